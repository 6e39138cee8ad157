// A list that renews itself: asks for the same page again while it is in view, until it is paused.
"use strict";

const SECONDS = 5;
const list = document.querySelector("[data-live]");

if (list) {
  const bar = document.createElement("p");
  bar.className = "live";
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiet";
  const state = document.createElement("span");
  state.setAttribute("role", "status");
  bar.append(state, button);
  list.before(bar);
  let runs = true;

  const show = (text) => {
    state.textContent = text;
    button.textContent = runs ? "Pause" : "Resume";
    bar.classList.toggle("runs", runs);
  };

  const renew = async () => {
    if (!runs || document.hidden || list.contains(document.activeElement)) {
      return;
    }
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (!answer.ok || answer.redirected) {
        throw new Error(answer.statusText);
      }
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = page.getElementById(list.id);
      const known = new Set([...list.querySelectorAll("tbody a")].map((link) => link.href));
      const added = [...fresh.querySelectorAll("tbody th a")].filter((link) => !known.has(link.href));
      added.forEach((link) => link.closest("tr").classList.add("new"));
      list.replaceChildren(...fresh.childNodes);
      show(added.length ? `Live: ${added.length} new` : "Live");
    } catch {
      show("Live: waiting for the server");
    }
  };

  button.addEventListener("click", () => {
    runs = !runs;
    show(runs ? "Live" : "Paused");
  });
  show("Live");
  setInterval(renew, SECONDS * 1000);
}
