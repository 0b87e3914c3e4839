"use strict";
// The search over figures and claims, and links that lead into folded parts.
const asked = document.getElementById("search");
const hits = document.getElementById("found");
const MOST = 12;

function search() {
  const words = asked.value.toLowerCase().split(/\s+/).filter(Boolean);
  const text = (entry) => `${entry.title} ${entry.where} ${entry.words}`.toLowerCase();
  const matches = words.length
    ? ENTRIES.filter((entry) => words.every((word) => text(entry).includes(word)))
    : [];
  // Entries with the words in their titles come first.
  const inTitle = (entry) =>
    words.filter((word) => `${entry.title} ${entry.where}`.toLowerCase().includes(word)).length;
  matches.sort((one, other) => inTitle(other) - inTitle(one));
  const items = matches.slice(0, MOST).map((entry) => {
    const link = document.createElement("a");
    const place = document.createElement("span");
    link.href = entry.at;
    link.textContent = entry.title;
    place.textContent = entry.where;
    link.append(place);
    const item = document.createElement("li");
    item.append(link);
    return item;
  });
  if (words.length && matches.length !== items.length) {
    const item = document.createElement("li");
    item.textContent = items.length ? `${matches.length - items.length} more` : "";
    items.push(item);
  }
  if (words.length && !matches.length) {
    const item = document.createElement("li");
    item.textContent = "no figure or claim with these words";
    items.push(item);
  }
  hits.replaceChildren(...items);
  hits.hidden = !words.length;
}
asked.addEventListener("input", search);
asked.addEventListener("keydown", (event) => {
  const first = hits.querySelector("a");
  if (event.key === "Enter" && first) first.click();
});

function unfold() {
  const place =
    location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!place) return;
  for (let part = place; part; part = part.parentElement)
    if (part.tagName === "DETAILS") part.open = true;
  place.scrollIntoView();
}
window.addEventListener("hashchange", unfold);
unfold();
