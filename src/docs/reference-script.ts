/**
 * The script of the reference. It calls its own origin only, and keeps a key only in the page's memory. It sets every
 * text as text, never as markup.
 */
export const REFERENCE_SCRIPT = `
"use strict"

for (const input of document.querySelectorAll("input[readonly]")) input.readOnly = false

const asking = document.getElementById("asking")
const askingSaid = document.getElementById("asking-said")
const key = document.getElementById("key")
asking.hidden = false
key.addEventListener("input", () => {
  asking.querySelector("[value=live]").checked = key.value.trim() !== ""
  asking.querySelector("[value=sandbox]").checked = key.value.trim() === ""
  askingSaid.textContent = ""
})

function asksLive() {
  return asking.querySelector("[value=live]").checked
}

const folded = document.querySelector(".contents details")
folded.open = matchMedia("(min-width: 64rem)").matches
folded.addEventListener("click", ({ target }) => {
  if (target.closest("a") && !matchMedia("(min-width: 64rem)").matches) folded.open = false
})

for (const box of document.querySelectorAll(".code")) {
  const button = document.createElement("button")
  button.textContent = "Copy"
  button.addEventListener("click", () => copy(box.querySelector("pre"), button))
  box.append(button)
}

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text.textContent)
    button.textContent = "Copied"
  } catch {
    // only pages that came over https or from this machine may write there
    getSelection().selectAllChildren(text)
    button.textContent = "Selected"
  }
  setTimeout(() => (button.textContent = "Copy"), 2000)
}

// the language that is opened in one place is opened everywhere; what was clicked stays where it is on the screen
document.addEventListener("click", (event) => {
  const chosen = event.target.closest(".lines summary")
  if (!chosen || chosen.parentNode.open) return
  const top = chosen.getBoundingClientRect().top
  for (const other of document.querySelectorAll(".lines summary"))
    if (other !== chosen && other.textContent === chosen.textContent) other.parentNode.open = true
  scrollBy(0, chosen.getBoundingClientRect().top - top)
})

document.addEventListener("submit", (event) => {
  event.preventDefault()
  // that of the key asks nothing
  if (event.target.dataset.path) ask(event.target)
})

async function ask(form) {
  if (asksLive() && key.value.trim() === "") {
    askingSaid.textContent = "A call of this instance takes a key."
    key.focus()
    return
  }
  const url = addressOf(form)
  const { said, body } = placeOf(form)
  const turn = String(Number(form.dataset.turn ?? 0) + 1)
  form.dataset.turn = turn
  said.textContent = "Asking " + url
  body.hidden = true
  let shown
  try {
    const headers = asksLive() ? { authorization: "Bearer " + key.value.trim() } : {}
    const response = await fetch(url, { headers, credentials: "omit", cache: "no-store" })
    shown = await answerOf(response, url)
  } catch (error) {
    shown = { said: "No answer from " + url + ": " + error.message, body: "" }
  }
  // a later call of the same form has taken the place
  if (form.dataset.turn !== turn) return
  said.textContent = shown.said
  body.textContent = shown.body
  body.hidden = shown.body === ""
}

function addressOf(form) {
  let path = asksLive() ? form.dataset.path.replace("/sandbox/", "/") : form.dataset.path
  const query = new URLSearchParams()
  for (const field of form.querySelectorAll("input, select")) {
    const value = field.value.trim()
    if (field.dataset.path) path = path.replace("{" + field.dataset.path + "}", () => encodeURIComponent(value))
    else if (value !== "") query.append(field.name || field.dataset.name, value)
  }
  return query.size > 0 ? path + "?" + query : path
}

async function answerOf(response, url) {
  const text = await response.text()
  const headers = [...response.headers].filter(([name]) => SHOWN.test(name)).map(([name, value]) => name + ": " + value)
  const said = response.status + (response.ok ? ", answered " : ", refused ") + url
  return { said, body: headers.join("\\n") + "\\n\\n" + pretty(text) }
}

const SHOWN = /^(x-credits-|x-request-id|content-type|retry-after)/

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

function placeOf(form) {
  const place = form.nextElementSibling ?? newPlace(form)
  return { said: place.firstChild, body: place.lastChild }
}

function newPlace(form) {
  const place = document.createElement("div")
  const said = document.createElement("p")
  said.setAttribute("role", "status")
  const body = document.createElement("pre")
  body.tabIndex = 0
  body.className = "answer"
  body.setAttribute("role", "region")
  body.setAttribute("aria-label", "Answer")
  place.append(said, body)
  form.after(place)
  return place
}

const filter = document.getElementById("filter")
const found = document.getElementById("found")
const parts = [...document.querySelectorAll("main section")].map((section) => ({
  section,
  words: section.querySelector("h3").textContent.toLowerCase() + " " + section.id + " " +
    section.querySelector("p").textContent.toLowerCase().split(". ")[0],
  entry: document.querySelector('nav a[href="#' + section.id + '"]').parentNode,
}))
const groups = [...document.querySelectorAll("[data-group]")]

filter.closest("p").hidden = false
filter.addEventListener("input", narrow)
addEventListener("hashchange", () => {
  const target = document.getElementById(location.hash.slice(1))
  if (!target?.closest("[hidden]")) return
  filter.value = ""
  narrow()
  target.scrollIntoView()
})
if (filter.value !== "") narrow()

function narrow() {
  const asked = filter.value.toLowerCase().split(" ").filter((word) => word !== "")
  let count = 0
  for (const { section, words, entry } of parts) {
    const kept = asked.every((word) => words.includes(word))
    section.hidden = entry.hidden = !kept
    if (kept) count++
  }
  for (const group of groups)
    group.hidden = asked.length > 0 && !group.querySelector("section:not([hidden]), nav li:not([hidden])")
  found.textContent = asked.length === 0 ? "" : count + (count === 1 ? " match" : " matches")
}
`
