type Attributes = Readonly<Record<string, string>>

export function element(name: string, children: readonly string[], attributes: Attributes = {}): string {
  const given = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeXml(value)}"`)
  return `<${name}${given.join('')}>${children.join('')}</${name}>`
}

export function textElement(name: string, text: string, attributes: Attributes = {}): string {
  return element(name, [escapeXml(text)], attributes)
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Without the characters that XML 1.0 does not have, not even escaped. */
function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '')
    .replaceAll(/[&<>"]/g, (character) => entities[character] ?? character)
}
