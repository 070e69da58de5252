import type { Words } from "../words.js";

const words: Words = {
  quotes: ["“", "”"],
  results: { other: "{q} 有 {n} 条结果" },
  none: "没有找到 {q} 的结果。",
  hint: "请换用其他词语或减少词语。",
  near: "您要找的是不是 {q}？",
  loading: "正在加载搜索…",
  network: "正在加载语言网络… {n}",
  unreachable: "无法加载搜索。请检查网络连接。",
  damaged: "搜索无法使用：本站的搜索文件已损坏或过期。",
  partial: "缺少部分结果：部分搜索内容无法加载。",
  stopped: "搜索因出错而停止。",
  wordless: "请至少输入一个词。",
  unsupported: "此浏览器不支持这种搜索。",
  why: "为什么是这些结果？",
  found: "此处含有：{q}",
  alike: "含义相近：{q}",
  absent: "此处没有，或过于常见而未查找：{q}",
  whole: "整体上与您的问题相近",
  modes: {
    words: "仅按您输入的词找到。",
    table: "按您输入的词以及从表中查得的含义找到。",
    full: "按您输入的词以及整个问题的含义找到，问题由您设备上的语言网络读取。",
  },
  retry: "重试",
  more: "显示更多",
  recent: "最近搜索",
  clear: "清除最近搜索",
  close: "关闭",
};

export default words;
