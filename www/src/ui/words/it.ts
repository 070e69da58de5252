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
  partial: "Mancano alcuni risultati: non è stato possibile caricare una parte della ricerca.",
  stopped: "La ricerca si è interrotta per un errore.",
  wordless: "Scrivi almeno una parola.",
  unsupported: "Questo browser non permette questa ricerca.",
  why: "Perché questi risultati?",
  found: "Trovato qui: {q}",
  alike: "Di significato simile: {q}",
  absent: "Non presente qui, o troppo comune per essere cercato: {q}",
  whole: "Vicino alla domanda nel suo insieme",
  modes: {
    words: "Trovato solo in base alle parole.",
    table: "Trovato in base alle parole e, tramite tabelle, al loro significato.",
    full: "Trovato in base alle parole e al significato dell’intera domanda, letta da una rete linguistica sul dispositivo.",
  },
  retry: "Riprova",
  more: "Mostra altri",
  recent: "Ricerche recenti",
  clear: "Cancella le ricerche recenti",
  close: "Chiudi",
};

export default words;
