import type { Words } from "../words.js";

const words: Words = {
  quotes: ["״", "״"],
  results: { one: "תוצאה אחת עבור {q}", two: "שתי תוצאות עבור {q}", other: "{n} תוצאות עבור {q}" },
  none: "אין תוצאות עבור {q}.",
  hint: "נסו מילים אחרות או פחות מילים.",
  near: "האם התכוונתם ל־{q}?",
  loading: "החיפוש נטען…",
  network: "רשת השפה נטענת… {n}",
  unreachable: "לא ניתן לטעון את החיפוש. בדקו את החיבור.",
  damaged: "החיפוש אינו פועל: הקבצים שלו באתר זה פגומים או ישנים.",
  stopped: "החיפוש הופסק בגלל שגיאה.",
  wordless: "כתבו לפחות מילה אחת.",
  unsupported: "הדפדפן הזה אינו תומך בחיפוש זה.",
  retry: "לנסות שוב",
  more: "להציג עוד",
  recent: "חיפושים אחרונים",
  clear: "מחיקת החיפושים האחרונים",
  close: "סגירה",
};

export default words;
