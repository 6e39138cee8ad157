// Times of the account's and the portal's pages in the reader's own zone, which is named; without JavaScript
// they are in UTC.
"use strict";

// Of the page; without one, we write the day first.
const locale = document.documentElement.dataset.locale ?? "en-GB";
const clock = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit", timeZoneName: "short" });

function written(at, month) {
  const zoned = { hour: "numeric", minute: "2-digit", timeZoneName: "short" };
  if (!locale.startsWith("en")) return at.toLocaleString(locale, { day: "numeric", month, year: "numeric", ...zoned });
  const day = new Intl.DateTimeFormat(locale, { day: "numeric", month, year: "numeric" });
  return `${day.format(at)}, ${clock.format(at)}`;
}

function localize(root) {
  for (const time of root.querySelectorAll("time[data-local]")) {
    time.title = `${time.textContent.trim()} (${Intl.DateTimeFormat().resolvedOptions().timeZone})`;
    time.textContent = written(new Date(time.dateTime), time.dataset.local || "short");
  }
}

localize(document);

// The founder's zone, or the one that a workspace without a zone may want.
const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
for (const field of document.querySelectorAll("[data-own-zone]")) field.value ||= ownZone;
