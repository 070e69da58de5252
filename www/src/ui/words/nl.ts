import type { Words } from "../words.js";

const words: Words = {
  quotes: ["‘", "’"],
  results: { one: "{n} resultaat voor {q}", other: "{n} resultaten voor {q}" },
  none: "Geen resultaten voor {q}.",
  hint: "Probeer andere of minder woorden.",
  near: "Bedoelde u {q}?",
  loading: "Zoekfunctie laden…",
  network: "Taalnetwerk laden… {n}",
  unreachable: "De zoekfunctie kon niet worden geladen. Controleer uw verbinding.",
  damaged: "De zoekfunctie werkt niet: de bestanden op deze site zijn beschadigd of verouderd.",
  partial: "Er ontbreken resultaten: een deel van de zoekfunctie kon niet worden geladen.",
  stopped: "De zoekfunctie is gestopt door een fout.",
  wordless: "Typ ten minste één woord.",
  unsupported: "Deze browser kan hier niet zoeken.",
  why: "Waarom deze resultaten?",
  found: "Hier gevonden: {q}",
  alike: "Vergelijkbaar van betekenis: {q}",
  absent: "Hier niet gevonden, of te gewoon om naar te zoeken: {q}",
  whole: "Als geheel dicht bij uw vraag",
  modes: {
    words: "Alleen op uw woorden gevonden.",
    table: "Op uw woorden gevonden en, met tabellen, op hun betekenis.",
    full: "Op uw woorden gevonden en op de betekenis van de hele vraag, die een taalnetwerk op uw apparaat heeft gelezen.",
  },
  retry: "Opnieuw proberen",
  more: "Meer tonen",
  recent: "Recente zoekopdrachten",
  clear: "Recente zoekopdrachten wissen",
  close: "Sluiten",
};

export default words;
