// Names of customers or shares below a field, as it is typed. Without JavaScript the field takes the same texts.
"use strict";

window.duographSuggest = (root) => {
  for (const input of root.querySelectorAll("[data-suggest]")) {
    const list = document.createElement("datalist");
    list.id = `${input.id}-suggestions`;
    input.after(list);
    input.setAttribute("list", list.id);
    let asked = 0;
    input.addEventListener("input", async () => {
      const mine = ++asked;
      const q = input.value.trim();
      await new Promise((later) => setTimeout(later, 150));
      if (mine !== asked || !q) return;
      const slug = location.pathname.split("/")[1];
      const address = `/${slug}/suggestions/${input.dataset.suggest}?${new URLSearchParams({ q })}`;
      // Names that cannot be had leave the field as it is: sending it finds the same.
      const answer = await fetch(address).catch(() => null);
      const found = answer?.ok ? await answer.json() : [];
      if (mine !== asked) return;
      list.replaceChildren(...found.map((each) => new Option(each.label, each.value)));
    });
  }
};
window.duographSuggest(document);

// The address of a list has what was asked, and not the fields that were left empty.
for (const form of document.querySelectorAll("form.filters")) {
  form.addEventListener("formdata", ({ formData }) => {
    for (const [name, value] of [...formData]) if (!value) formData.delete(name);
  });
}
