"use strict";

// Words that are in most descriptions or questions, and tell operations apart in neither.
const commonWords = new Set("a an and are as at be by can do does each for from has have how i if in into is it its me my of on or that the their them this to we what when where which who will with you".split(" "));

// Questions and descriptions use different words for the same thing.
const sameWords = {
  add: "create", new: "create", make: "create", hire: "create", change: "update", edit: "update", modify: "update", replace: "update",
  remove: "delete", retrieve: "read", show: "read", get: "read", list: "read", find: "read", see: "read", view: "read", "return": "read", why: "explain", reason: "explain",
  people: "person", employee: "person", staff: "person", worker: "person", user: "person",
  rota: "schedule", roster: "schedule", work: "schedule", today: "schedule", tomorrow: "schedule", week: "schedule",
  rotation: "pattern", holiday: "holiday", vacation: "timeoff", absence: "timeoff", leave: "timeoff",
  accept: "approve", confirm: "approve", wage: "pay", salary: "pay", payroll: "payroll",
};

// stem removes the endings that a word has in some forms only.
function stem(word) {
  return word.replace(/(?:ies)$/, "y").replace(/(?:sses)$/, "ss").replace(/([^s])s$/, "$1")
    .replace(/([a-z]{3,}?)(?:ing|ed)$/, "$1").replace(/([a-z]{3,})e$/, "$1").replace(/([bdgmnprt])\1$/, "$1");
}

function words(text) {
  return text.replace(/time.off/gi, "timeoff").replace(/\bleaves? out\b/gi, "").replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase()
    .split(/[^a-z0-9]+/).filter((word) => word.length > 1 && !commonWords.has(word));
}

const stemmed = Object.fromEntries(Object.entries(sameWords).map(([word, same]) => [stem(word), stem(same)]));

function terms(text) {
  return words(text).map((word) => stemmed[stem(word)] || stem(word));
}

// Fields of an operation, and how much a word in them says about it.
const fields = [
  [(operation) => operation.summary, 8],
  [(operation) => operation.id, 4],
  [(operation, tag) => tag.name, 4],
  [(operation) => operation.path, 2],
  [(operation, tag) => tag.description, 2],
  [(operation) => operation.description || "", 1],
];

// newSearch returns a function that returns the operations for a text, the best first. Rare words count more, and
// operations that have more of the words.
function newSearch(index) {
  const entries = [];
  const known = new Map();
  for (const tag of index) {
    for (const operation of tag.operations) {
      const weights = new Map();
      for (const [text, weight] of fields) {
        const list = terms(text(operation, tag));
        for (const term of new Set(list)) {
          weights.set(term, (weights.get(term) || 0) + weight / Math.sqrt(list.length));
        }
      }
      for (const term of weights.keys()) {
        known.set(term, (known.get(term) || 0) + 1);
      }
      entries.push({ tag, operation, weights });
    }
  }
  return (text) => {
    const wanted = new Set(terms(text));
    const score = (entry) => {
      let sum = 0;
      let matched = 0;
      for (const term of wanted) {
        const weight = entry.weights.get(term) || 0;
        sum += weight * Math.log(1 + entries.length / (known.get(term) || entries.length));
        matched += weight > 0 ? 1 : 0;
      }
      return sum * matched / wanted.size;
    };
    return entries.map((entry) => ({ ...entry, score: score(entry) }))
      .filter((entry) => entry.score > 0)
      .sort((a, b) => b.score - a.score || a.operation.path.length - b.operation.path.length)
      .slice(0, 20);
  };
}
