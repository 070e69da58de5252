import type { Words } from "../words.js";

export default {
  quotes: ["«\u00a0", "\u00a0»"],
  results: { one: "{n} résultat pour {q}", other: "{n} résultats pour {q}" },
  none: "Aucun résultat pour {q}.",
  hint: "Essayez d’autres mots, ou moins de mots.",
  near: "Vouliez-vous dire {q}\u00a0?",
  loading: "Chargement de la recherche…",
  network: "Chargement du réseau linguistique… {n}",
  unreachable: "La recherche n’a pas pu être chargée. Vérifiez votre connexion.",
  damaged:
    "La recherche ne fonctionne pas\u00a0: ses fichiers sur ce site sont endommagés ou périmés.",
  partial: "Il manque des résultats : une partie de la recherche n’a pas pu être chargée.",
  stopped: "La recherche s’est arrêtée à cause d’une erreur.",
  wordless: "Saisissez au moins un mot.",
  unsupported: "Ce navigateur ne permet pas cette recherche.",
  why: "Pourquoi ces résultats ?",
  found: "Trouvé ici : {q}",
  alike: "De sens proche : {q}",
  absent: "Absent d’ici, ou trop courant pour être cherché : {q}",
  whole: "Proche de votre question dans son ensemble",
  modes: {
    words: "Trouvé d’après vos mots seulement.",
    table: "Trouvé d’après vos mots et, à l’aide de tables, d’après leur sens.",
    full: "Trouvé d’après vos mots et d’après le sens de toute la question, lue par un réseau linguistique sur votre appareil.",
  },
  retry: "Réessayer",
  more: "Afficher plus",
  recent: "Recherches récentes",
  clear: "Effacer les recherches récentes",
  close: "Fermer",
} satisfies Words;
