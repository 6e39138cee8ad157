// Light or dark as chosen in this browser, else as the system is. It runs before the page is painted.
"use strict";

{
  const KEY = "duograph-theme";
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");

  const kept = () => {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null; // The browser keeps nothing for this site.
    }
  };

  const apply = () => {
    const chosen = ["light", "dark"].includes(kept()) ? kept() : "";
    root.dataset.theme = chosen;
    root.classList.toggle("is-dark", chosen === "dark" || (!chosen && system.matches));
    for (const button of document.querySelectorAll("[data-theme-of]")) {
      button.setAttribute("aria-pressed", button.dataset.themeOf === chosen);
    }
  };

  apply();
  system.addEventListener("change", apply);
  // Another page of the site may have changed it.
  addEventListener("storage", apply);
  addEventListener("DOMContentLoaded", () => {
    for (const choice of document.querySelectorAll("[data-themes]")) {
      choice.hidden = false;
      choice.addEventListener("click", ({ target }) => {
        const button = target.closest("[data-theme-of]");
        if (!button) return;
        localStorage.setItem(KEY, button.dataset.themeOf);
        apply();
      });
    }
    apply();
  });
}
