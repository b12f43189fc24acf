// A list that is searched, narrowed down, ordered and walked through by keys: of findings, of questions.

const FIRST = 10;

/**
 * The list of the page, as `listView` is given it. `all` have an `index` and a `fingerprint`, `one` is what one of them is called.
 * `facets` say by name what one has of each (`of`); `values` is their order, `byName` sorts them, `first` are shown at once, `told`
 * says more of a value. `orders` compare, and put those of which they say the same (`of`) below one head, or where they have `also`
 * behind the first of them, in short: what it says of another one. `text` is searched. `name` is a class; `head` and `detail` make
 * what one shows closed and open.
 */
let list = null;
let chosen = {};
let sought = "";
let wanted = [];
let order = "";
let building = null;
const made = new Map();
const opened = new Set();

const passes = (each, but) =>
  (!wanted.length || holdsAll(searched(each), wanted)) &&
  Object.entries(list.facets).every(([name, facet]) => name === but || !chosen[name].size || facet.of(each).some((value) => chosen[name].has(value)));

const searched = (each) => (each.searched ??= list.text(each).join("\n").toLowerCase());

/** The filters and the list itself; `tools` stand above it, `rest` below. */
function listView(given, tools, rest) {
  list = given;
  chosen = Object.fromEntries(Object.keys(list.facets).map((name) => [name, new Set()]));
  const entries = h("ol", { id: "list", class: "entries", "aria-label": `${list.one}s` });
  const status = h("p", { id: "status", role: "status" });
  const facets = h("div", { id: "facets" });
  const ordered = h("select", { id: "order", change: (event) => ((order = event.target.value), refresh()) }, Object.keys(list.orders).map((name) => h("option", null, name)));
  const clear = h("button", { type: "button", click: clearAll }, "Clear filters");
  // On a narrow page the filters would fill the first screen.
  const isWide = matchMedia("(min-width: 60rem)").matches;
  const aside = h("aside", { class: "filters", "aria-label": "filters" }, h("details", { open: isWide }, h("summary", null, "Filters"), facets));
  const results = h("section", { class: "results", "aria-label": `${list.one}s` }, h("h2", { class: "unseen" }, `${list.one}s`), h("div", { class: "line" }, status, h("label", { for: "order" }, "Order by "), ordered, clear), tools, entries, rest);
  addEventListener("beforeprint", () => building && building.finish());
  return h("div", { class: "columns" }, aside, results);
}

function clearAll() {
  for (const values of Object.values(chosen)) values.clear();
  seek("");
  refresh();
}

function seek(text) {
  sought = text;
  wanted = words(text);
  const field = document.getElementById("search");
  if (field.value !== text) field.value = text;
}

/** Show what passes now. */
function refresh() {
  const { all, one } = list;
  const { of, compare, also } = list.orders[order];
  const found = all.filter((each) => passes(each)).sort(compare);
  document.getElementById("status").textContent = found.length === all.length ? counted(found.length, one) : `${found.length.toLocaleString("en")} of ${counted(all.length, one)}`;
  keep({ ...chosen, search: [sought], order: [order === Object.keys(list.orders)[0] ? "" : order] });
  drawFacets();
  const entries = document.getElementById("list");
  entries.replaceChildren();
  if (building) building.stop();
  const sizes = new Map();
  for (const each of found) sizes.set(of(each), (sizes.get(of(each)) || 0) + 1);
  let first = null;
  building = inTurn(
    found,
    (each) => {
      const entry = entryOf(each);
      const isFirst = !first || of(first) !== of(each);
      if (isFirst) first = each;
      entry.classList.toggle("also", Boolean(also) && !isFirst);
      if (also) entry.querySelector(".differs").replaceChildren(...(isFirst ? [] : prose(also(each, first))));
      if (!isFirst || of(each) === null) return entry;
      const others = sizes.get(of(each)) - 1;
      if (also) return [entry, others > 0 && h("li", { class: "quiet others" }, `${counted(others, "more place")} with this fault`)].filter(Boolean);
      return [h("li", { class: "group" }, h("h2", null, of(each))), entry];
    },
    entries,
  );
  if (!found.length) entries.append(h("li", { class: "quiet" }, all.length ? `No ${one} passes these filters.` : `No ${one}s.`));
}

function drawFacets() {
  const drawn = Object.entries(list.facets).map(([name, facet]) => {
    const counts = new Map();
    for (const each of list.all) {
      const isShown = passes(each, name);
      for (const value of facet.of(each)) counts.set(value, (counts.get(value) || 0) + Number(isShown));
    }
    if (counts.size < 2 && !chosen[name].size) return null;
    const values = sortedValues(facet, counts).filter((value) => counts.get(value) || chosen[name].has(value));
    const shown = opened.has(name) ? values : values.filter((value, at) => at < (facet.first || FIRST) || chosen[name].has(value));
    const more = values.length - shown.length;
    return h(
      "fieldset",
      { class: `facet of-${name}` },
      h("legend", null, facet.title),
      shown.map((value) => choice(name, value, counts.get(value))),
      more > 0 && h("button", { type: "button", class: "more", click: () => (opened.add(name), drawFacets()) }, `${more.toLocaleString("en")} more`),
    );
  });
  const facets = document.getElementById("facets");
  const focused = document.activeElement && document.activeElement.id;
  facets.replaceChildren(...drawn.filter(Boolean));
  if (focused && focused.startsWith("f-")) document.getElementById(focused)?.focus();
}

function sortedValues(facet, counts) {
  const all = [...counts.keys()];
  if (facet.values) return [...facet.values.filter((value) => counts.has(value)), ...all.filter((value) => !facet.values.includes(value))];
  if (facet.byName) return all.sort();
  return all.sort((one, other) => counts.get(other) - counts.get(one) || (one < other ? -1 : 1));
}

function choice(name, value, count) {
  const id = `f-${name}-${value}`;
  const change = (event) => {
    chosen[name][event.target.checked ? "add" : "delete"](value);
    refresh();
  };
  const box = h("input", { type: "checkbox", id, change });
  box.checked = chosen[name].has(value);
  const { told } = list.facets[name];
  return h("label", { for: id, title: told ? told(value) : value }, box, h("span", { class: "value" }, h("bdi", null, value)), h("span", { class: "count" }, count.toLocaleString("en")));
}

/** Show those alone that have these values, by facet. */
function narrow(values) {
  for (const [name, each] of Object.entries(chosen)) {
    each.clear();
    if (values[name] !== undefined) each.add(values[name]);
  }
  refresh();
  document.getElementById("status").scrollIntoView({ block: "start" });
}

// One in the list

function entryOf(each) {
  if (made.has(each.index)) return made.get(each.index);
  const id = `detail-${each.index}`;
  const button = h("button", { type: "button", class: "head", "aria-expanded": "false", "aria-controls": id, click: () => toggle(each.index) }, list.head(each));
  const entry = h("li", { class: `entry ${list.name(each)}`, id: `${list.one}-${each.index}` }, h("h3", null, button), h("div", { id, class: "detail", hidden: true }));
  made.set(each.index, entry);
  return entry;
}

function toggle(index, isOpen) {
  const entry = entryOf(list.all[index]);
  const [button, detail] = [entry.querySelector("button.head"), entry.querySelector(".detail")];
  const open = isOpen ?? detail.hidden;
  if (open && !detail.hasChildNodes()) detail.append(...list.detail(list.all[index]).flat(Infinity).filter(Boolean));
  detail.hidden = !open;
  keep({ open: [open && list.all[index].fingerprint] });
  button.setAttribute("aria-expanded", String(open));
}

// Keys

/** The bar on top of a page with a list; `keys` are those that it has of its own: what each is for, and what it does. */
function listHead(title, told, keys) {
  const all = [["/", "search"], ["j k ↓ ↑", `next, previous ${list.one}`], ["Enter", "open or close it"], ...keys, ["Esc", "leave the search, clear the filters"], ["?", "this list"]];
  const rows = all.map(([key, act]) => [h("dt", null, h("kbd", null, key)), h("dd", null, act)]);
  const help = h("dialog", { "aria-label": "keys" }, h("h2", null, "Keys"), h("dl", null, rows), h("form", { method: "dialog" }, h("button", null, "Close")));
  listenToKeys(help, Object.fromEntries(keys.map(([key, , act]) => [key, act])));
  const search = searchField(`Search ${list.one}s ( / )`, (text) => (seek(text), refresh()));
  return [pageHead(title, told, search, h("button", { type: "button", click: () => help.showModal() }, "Keys ( ? )")), help];
}

function listenToKeys(help, own) {
  const acts = { "/": () => document.getElementById("search").focus(), j: () => step(1), k: () => step(-1), "?": () => help.showModal(), ...own };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    const isTyping = event.target.matches("input:not([type=checkbox]), select, textarea");
    if (event.key === "Escape") return isTyping ? leave(event.target) : clearAll();
    if (isTyping) return undefined;
    // Elsewhere arrows scroll.
    const isWalking = event.target.matches("body, button.head");
    const act = acts[event.key] || (isWalking && { ArrowDown: acts.j, ArrowUp: acts.k }[event.key]);
    if (!act) return undefined;
    event.preventDefault();
    return act(focused());
  });
}

/** From a field back to the entry that it is in. */
function leave(field) {
  const entry = entryAround(field);
  if (entry) entry.querySelector("button.head").focus();
  else field.blur();
}

const entryAround = (element) => element.closest("li.entry");

/** Which of the list has the focus, itself or in its detail. */
function focused() {
  const entry = entryAround(document.activeElement);
  return entry && list.all[Number(entry.id.slice(list.one.length + 1))];
}

function step(by) {
  const own = entryAround(document.activeElement);
  let entry = own || (by > 0 ? document.getElementById("list").firstElementChild : null);
  if (own || (entry && !entry.matches(".entry")))
    do entry = by > 0 ? entry.nextElementSibling : entry.previousElementSibling;
    while (entry && !entry.matches(".entry"));
  entry?.querySelector("button.head").focus();
}

/** The list as the address has it, and open the one that it names by its fingerprint. */
function followAddress() {
  const given = address();
  for (const [name, values] of Object.entries(chosen)) {
    values.clear();
    given.getAll(name).forEach((value) => values.add(value));
  }
  const orders = Object.keys(list.orders);
  order = document.getElementById("order").value = orders.includes(given.get("order")) ? given.get("order") : orders[0];
  seek(given.get("search") || "");
  refresh();
  const found = list.all.find((each) => each.fingerprint && each.fingerprint === given.get("open"));
  if (!found) return;
  if (!passes(found)) clearAll();
  building.finish();
  toggle(found.index, true);
  entryOf(found).scrollIntoView();
  // Only then are the entries above as high as they are.
  requestAnimationFrame(() => requestAnimationFrame(() => entryOf(found).scrollIntoView()));
}
