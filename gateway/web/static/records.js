// Forms of records: fields that mean nothing with the chosen kind are hidden, and what an amount is understood
// as stands beside it. Without JavaScript all are shown, and the next page has the amount.
"use strict";

for (const part of document.querySelectorAll("[data-when]")) {
  const control = part.querySelector("[name]");
  const beside = document.getElementById(control.name.replace(/[^.]+$/, part.dataset.when));
  const kind = beside ?? document.getElementById(part.dataset.when);
  // A form that changes a record does not offer what cannot be changed.
  if (!kind) continue;
  const values = part.dataset.values.split(" ");
  const show = () => {
    part.hidden = !values.includes(kind.value);
  };
  kind.addEventListener("change", show);
  // What was refused is shown, although it means nothing with the kind: it may be why.
  if (!part.querySelector("[aria-invalid]")) show();
}

for (const input of document.querySelectorAll("[data-amount]")) {
  const echo = document.createElement("output");
  echo.className = "hint amount";
  echo.htmlFor = input.id;
  input.after(echo);
  const currency = document.getElementById(input.dataset.currency);
  let asked = 0;
  const show = async () => {
    const mine = ++asked;
    const text = input.value.trim();
    await new Promise((later) => setTimeout(later, 150));
    if (mine !== asked) return;
    if (!text) {
      echo.textContent = "";
      return;
    }
    const query = new URLSearchParams({ text, currency: currency?.value || input.dataset.amount });
    // An echo that cannot be had leaves the form as it is: sending it answers the same.
    const answer = await fetch(`/${location.pathname.split("/")[1]}/amounts?${query}`).catch(() => null);
    const read = answer?.ok ? await answer.json() : {};
    if (mine === asked) echo.textContent = read.text ? `= ${read.text}` : (read.problem ?? "");
  };
  input.addEventListener("input", show);
  currency?.addEventListener("change", show);
}
