// Shows one language of the samples at a time, remembers it, and copies code. Without this script all languages show.

const storageKey = 'tollgate-docs-language'

/** The chosen language, or undefined: a browser may forbid the storage. */
function remembered() {
  try {
    return localStorage.getItem(storageKey) ?? undefined
  } catch {
    return undefined
  }
}

function remember(language) {
  try {
    localStorage.setItem(storageKey, language)
  } catch {
    // The choice then lasts for this page.
  }
}

const groups = [...document.querySelectorAll('.tabs')].map(createTabs)
const chosen = remembered()
for (const group of groups) group.show(chosen)

function createTabs(container, number) {
  const panels = [...container.querySelectorAll('figure')]
  const list = document.createElement('div')
  list.setAttribute('role', 'tablist')
  list.setAttribute('aria-label', 'Language')
  const tabs = panels.map((panel, index) => {
    const tab = document.createElement('button')
    tab.type = 'button'
    tab.textContent = panel.querySelector('figcaption').textContent
    tab.id = `tab-${number}-${index}`
    panel.id = `panel-${number}-${index}`
    tab.setAttribute('role', 'tab')
    tab.setAttribute('aria-controls', panel.id)
    panel.setAttribute('role', 'tabpanel')
    panel.setAttribute('aria-labelledby', tab.id)
    tab.addEventListener('click', () => choose(panel.dataset.language))
    list.append(tab)
    return tab
  })
  list.addEventListener('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const next = tabs.at((tabs.indexOf(document.activeElement) + step) % tabs.length)
    next.focus()
    next.click()
  })
  container.prepend(list)
  container.classList.add('active')

  /** Shows a language, or without it the same language without its library, or the first one. */
  function show(language = '') {
    const languages = panels.map((panel) => panel.dataset.language)
    const exact = languages.indexOf(language)
    const shown = exact >= 0 ? exact : Math.max(languages.indexOf(language.split('-')[0]), 0)
    for (const [index, panel] of panels.entries()) {
      panel.hidden = index !== shown
      tabs[index].setAttribute('aria-selected', String(index === shown))
      tabs[index].tabIndex = index === shown ? 0 : -1
    }
  }
  return { show }
}

function choose(language) {
  remember(language)
  for (const group of groups) group.show(language)
}

// Browsers have a clipboard only over https and on localhost.
const blocks = navigator.clipboard === undefined ? [] : document.querySelectorAll('pre')
for (const block of blocks) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = 'Copy'
  button.addEventListener('click', () => void copy(block, button))
  const frame = document.createElement('div')
  frame.className = 'code'
  block.replaceWith(frame)
  frame.append(block, button)
}

async function copy(block, button) {
  try {
    await navigator.clipboard.writeText(block.textContent)
    button.textContent = 'Copied'
  } catch {
    button.textContent = 'Not copied'
  }
  setTimeout(() => (button.textContent = 'Copy'), 2000)
}

const navigation = document.querySelector('nav')
const current = navigation.querySelector('[aria-current]')
if (current) navigation.scrollTop = current.offsetTop - navigation.clientHeight / 2
