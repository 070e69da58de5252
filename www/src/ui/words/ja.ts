import type { Words } from "../words.js";

const words: Words = {
  quotes: ["「", "」"],
  results: { other: "{q}の検索結果: {n} 件" },
  none: "{q}に一致する結果はありません。",
  hint: "別の言葉にするか、言葉を減らしてみてください。",
  near: "もしかして: {q}",
  loading: "検索を読み込んでいます…",
  network: "言語ネットワークを読み込んでいます… {n}",
  unreachable: "検索を読み込めませんでした。接続を確認してください。",
  damaged: "検索を利用できません。このサイトの検索ファイルが壊れているか、古くなっています。",
  stopped: "エラーのため検索を中止しました。",
  wordless: "言葉を一つ以上入力してください。",
  unsupported: "このブラウザーではこの検索を利用できません。",
  retry: "再試行",
  more: "もっと見る",
  recent: "最近の検索",
  clear: "最近の検索を消去",
  close: "閉じる",
};

export default words;
