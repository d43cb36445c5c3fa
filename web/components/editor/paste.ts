import type { Schema } from '@tiptap/pm/model'
import { Slice } from '@tiptap/pm/model'
import type { EditorNode } from './document.ts'

/** Pasted content that joins the paragraph at the cursor. */
export function sliceOf(schema: Schema, document: EditorNode): Slice {
  const { content } = schema.nodeFromJSON(document)
  return new Slice(content, 1, 1)
}

/**
 * Pasted HTML without styles, which the Content-Security-Policy refuses, and without what Word adds. Word writes a list as
 * paragraphs with their bullets as text. The editor drops all other formatting that a letter cannot have.
 */
export function cleanHtml(html: string): string {
  const plain = withoutStyles(html)
  if (!plain.includes('MsoListParagraph')) return plain
  const page = new DOMParser().parseFromString(withoutBullets(plain), 'text/html')
  for (const item of page.querySelectorAll('p[class*=MsoListParagraph]')) {
    const kind = item.hasAttribute('data-number') ? 'OL' : 'UL'
    const before = item.previousElementSibling
    const list = before?.tagName === kind && before.hasAttribute('data-word') ? before : page.createElement(kind)
    if (list !== before) {
      list.setAttribute('data-word', '')
      item.before(list)
    }
    const entry = page.createElement('li')
    entry.append(...item.childNodes)
    list.append(entry)
    item.remove()
  }
  return page.body.innerHTML
}

function withoutStyles(html: string): string {
  const body = html.replace(/<(style|title|xml)\b[^]*?<\/\1>/gi, '')
  return body.replace(/<[a-z][^>]*>/gi, (tag) => tag.replace(/\sstyle=(?:"[^"]*"|'[^']*'|[^\s>]+)/gi, ''))
}

/** Word encloses the bullet or number of each item in conditional comments. */
function withoutBullets(html: string): string {
  return html.replace(
    /(<p[^>]*)(class="?MsoListParagraph[^>]*>(?:(?!<\/p>)[^])*?)<!(?:--)?\[if !supportLists\](?:--)?>([^]*?)<!(?:--)?\[endif\](?:--)?>/g,
    (_, start: string, rest: string, bullet: string) => {
      const isNumber = /\d|[a-z][.)]/i.test(bullet.replace(/<[^>]*>|&[^;]*;/g, ''))
      return `${start}${isNumber ? 'data-number ' : ''}${rest}`
    },
  )
}
