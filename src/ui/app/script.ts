import { CROSSHAIR_SCRIPT } from "../charts/crosshair.ts"

/**
 * The script of /app. Every page also works without it. It scrolls to the current tab on phones, applies a selection at
 * once, filters rows while typing, reloads a page whose first ranks are being read, focuses the search with "/", closes
 * menus, and removes the notice of a change after ten seconds. Charts have a crosshair.
 */
export const APP_SCRIPT = `${CROSSHAIR_SCRIPT}
for (const bar of document.querySelectorAll(".tabs, .bar nav")) {
  const here = bar.querySelector("[aria-current]")
  if (here) bar.scrollLeft = here.offsetLeft - bar.offsetLeft - (bar.clientWidth - here.offsetWidth) / 2
}
for (const form of document.querySelectorAll("form[data-now]")) {
  form.addEventListener("change", ({ target }) => { if (target.matches("select")) form.requestSubmit() })
  for (const button of form.querySelectorAll("button[data-spare]")) button.hidden = true
}
for (const field of document.querySelectorAll("input[data-finds]")) {
  const rows = [...document.querySelectorAll("#" + field.dataset.finds + " tbody tr")]
  if (rows.length === 0 || rows.length >= 200) continue
  field.addEventListener("input", () => {
    const wanted = field.value.trim().toLowerCase()
    for (const row of rows) row.hidden = !row.querySelector("th").textContent.toLowerCase().includes(wanted)
  })
}
if (document.querySelector("[data-reading]"))
  setInterval(() => {
    const isInUse = document.querySelector("[data-toast], .menu[open], input[type=checkbox]:checked")
    if (document.activeElement === document.body && !isInUse) location.reload()
  }, 4000)
for (const toast of document.querySelectorAll("[data-toast]")) {
  const url = new URL(location.href)
  url.searchParams.delete("done")
  history.replaceState(null, "", url)
  toast.classList.add("toast")
  const go = () => { if (toast.matches(":hover, :focus-within")) setTimeout(go, 2000); else toast.remove() }
  setTimeout(go, 10000)
}
addEventListener("keydown", (event) => {
  if (event.key === "Escape") for (const menu of document.querySelectorAll(".menu[open]")) menu.open = false
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.target.matches("input, textarea, select")) return
  const search = document.querySelector("[data-search]")
  if (!search) return
  event.preventDefault()
  search.focus()
})
addEventListener("click", ({ target }) => {
  for (const menu of document.querySelectorAll(".menu[open]")) if (!menu.contains(target)) menu.open = false
})
`
