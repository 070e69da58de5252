import type { Words } from "../words.js";

const words: Words = {
  quotes: ["„", "”"],
  results: {
    one: "{n} wynik dla {q}",
    few: "{n} wyniki dla {q}",
    many: "{n} wyników dla {q}",
    other: "{n} wyniku dla {q}",
  },
  none: "Brak wyników dla {q}.",
  hint: "Spróbuj innych słów lub mniejszej ich liczby.",
  near: "Czy chodziło o {q}?",
  loading: "Wczytywanie wyszukiwarki…",
  network: "Wczytywanie sieci językowej… {n}",
  unreachable: "Nie udało się wczytać wyszukiwarki. Sprawdź połączenie.",
  damaged: "Wyszukiwarka nie działa: jej pliki w tej witrynie są uszkodzone lub nieaktualne.",
  partial: "Brakuje części wyników: nie udało się wczytać części wyszukiwarki.",
  stopped: "Wyszukiwanie przerwano z powodu błędu.",
  wordless: "Wpisz co najmniej jedno słowo.",
  unsupported: "Ta przeglądarka nie obsługuje tego wyszukiwania.",
  why: "Skąd te wyniki?",
  found: "Znaleziono tutaj: {q}",
  alike: "O podobnym znaczeniu: {q}",
  absent: "Nie ma tutaj lub zbyt częste, by ich szukać: {q}",
  whole: "Całość jest bliska pytaniu",
  modes: {
    words: "Znaleziono tylko według słów pytania.",
    table: "Znaleziono według słów pytania oraz, na podstawie tabel, według ich znaczenia.",
    full: "Znaleziono według słów i według znaczenia całego pytania, które przeczytała sieć językowa na tym urządzeniu.",
  },
  retry: "Spróbuj ponownie",
  more: "Pokaż więcej",
  recent: "Ostatnie wyszukiwania",
  clear: "Wyczyść ostatnie wyszukiwania",
  close: "Zamknij",
};

export default words;
