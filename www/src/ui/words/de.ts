import type { Words } from "../words.js";

export default {
  quotes: ["„", "“"],
  results: { one: "{n} Ergebnis für {q}", other: "{n} Ergebnisse für {q}" },
  none: "Keine Ergebnisse für {q}.",
  hint: "Versuchen Sie es mit anderen oder weniger Wörtern.",
  near: "Meinten Sie {q}?",
  loading: "Die Suche wird geladen …",
  network: "Das Sprachnetz wird geladen … {n}",
  unreachable: "Die Suche konnte nicht geladen werden. Prüfen Sie die Verbindung.",
  damaged:
    "Die Suche funktioniert nicht: Ihre Dateien auf dieser Website sind beschädigt oder veraltet.",
  partial: "Einige Ergebnisse fehlen: Ein Teil der Suche konnte nicht geladen werden.",
  stopped: "Die Suche wurde wegen eines Fehlers beendet.",
  wordless: "Geben Sie mindestens ein Wort ein.",
  unsupported: "Dieser Browser kann hier nicht suchen.",
  why: "Warum diese Ergebnisse?",
  found: "Hier gefunden: {q}",
  alike: "Ähnlich in der Bedeutung: {q}",
  absent: "Hier nicht gefunden oder zu häufig, um danach zu suchen: {q}",
  whole: "Im Ganzen nahe an Ihrer Frage",
  modes: {
    words: "Nur nach Ihren Wörtern gefunden.",
    table: "Nach Ihren Wörtern und, aus Tabellen, nach deren Bedeutung gefunden.",
    full: "Nach Ihren Wörtern und nach der Bedeutung der ganzen Frage gefunden, die ein Sprachnetz auf Ihrem Gerät gelesen hat.",
  },
  retry: "Erneut versuchen",
  more: "Mehr anzeigen",
  recent: "Letzte Suchen",
  clear: "Letzte Suchen löschen",
  close: "Schließen",
} satisfies Words;
