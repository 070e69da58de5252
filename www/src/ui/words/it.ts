import type { Words } from "../words.js";

const words: Words = {
  quotes: ["«", "»"],
  results: { one: "{n} risultato per {q}", other: "{n} risultati per {q}" },
  none: "Nessun risultato per {q}.",
  hint: "Prova con altre parole o con meno parole.",
  near: "Forse cercavi {q}?",
  loading: "Caricamento della ricerca…",
  network: "Caricamento della rete linguistica… {n}",
  unreachable: "Impossibile caricare la ricerca. Controlla la connessione.",
  damaged: "La ricerca non funziona: i suoi file su questo sito sono danneggiati o non aggiornati.",
  stopped: "La ricerca si è interrotta per un errore.",
  wordless: "Scrivi almeno una parola.",
  unsupported: "Questo browser non permette questa ricerca.",
  retry: "Riprova",
  more: "Mostra altri",
  recent: "Ricerche recenti",
  clear: "Cancella le ricerche recenti",
  close: "Chiudi",
};

export default words;
