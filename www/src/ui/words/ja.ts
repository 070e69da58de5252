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
  partial: "一部の結果がありません。検索の一部を読み込めませんでした。",
  stopped: "エラーのため検索を中止しました。",
  wordless: "言葉を一つ以上入力してください。",
  unsupported: "このブラウザーではこの検索を利用できません。",
  why: "この結果の理由",
  found: "ここにある言葉: {q}",
  alike: "意味が近い言葉: {q}",
  absent: "ここにないか、一般的すぎて探さない言葉: {q}",
  whole: "全体として質問に近い内容です",
  modes: {
    words: "言葉だけで見つけました。",
    table: "言葉と、表から調べたその意味で見つけました。",
    full: "言葉と、この端末の言語ネットワークが読み取った質問全体の意味で見つけました。",
  },
  retry: "再試行",
  more: "もっと見る",
  recent: "最近の検索",
  clear: "最近の検索を消去",
  close: "閉じる",
};

export default words;
