import { escapeHtml } from '../../platform/docs/html.ts'
import { detailsOf, senderLine, type Block, type LetterDocument, type Span } from '../document.ts'
import { printable, readMarkdown } from '../markdown.ts'
import { printStyle } from './print-style.ts'
import { splitSignOff } from '../sign-off.ts'

/** Without it, browsers ask for /favicon.ico. The policy forbids that, and Firefox reports it as a violation. */
const noIcon = '<link rel="icon" href="data:,">'

/** Writes a letter as a page to read and to print, on the paper of the printer. */
export function writePrintPage(letter: LetterDocument): string {
  const { letterhead, recipient, date, subject, language, notice } = letter
  const { body, signOff } = splitSignOff(readMarkdown(letter.text), letter)
  return `<!doctype html>
<html lang="${html(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${html(subject)}</title>
${noIcon}
<style>${printStyle}</style>
</head>
<body>
<header class="head">
<div><p class="name">${html(letterhead.name ?? '')}</p></div>
<div class="details">${html(detailsOf(letterhead).join('\n'))}</div>
<address><p class="sender">${html(senderLine(letterhead))}</p><div class="recipient">${html(recipient.join('\n'))}</div></address>
<p class="date">${html(date)}</p>
</header>
<main>
<h1 dir="auto">${html(subject)}</h1>
${body.map(htmlOf).join('\n')}
<div class="end"><p dir="auto">${html(signOff.closing)}</p>${signOff.names.map((name) => `<p dir="auto">${html(name)}</p>`).join('')}</div>
${notice === '' ? '' : `<p class="notice" dir="auto">${html(notice)}</p>`}
</main>
</body>
</html>
`
}

const html = (text: string) => escapeHtml(printable(text))

function htmlOf(block: Block): string {
  switch (block.kind) {
    case 'paragraph':
      return `<p dir="auto">${inline(block.spans)}</p>`
    case 'heading':
      return `<h${block.depth + 1} dir="auto">${inline(block.spans)}</h${block.depth + 1}>`
    case 'quote':
      return `<blockquote>${block.blocks.map(htmlOf).join('')}</blockquote>`
    case 'list': {
      const items = block.items.map((item) => `<li>${item.map(htmlOf).join('')}</li>`).join('')
      return block.first === undefined
        ? `<ul dir="auto">${items}</ul>`
        : `<ol dir="auto" start="${block.first}">${items}</ol>`
    }
  }
}

function inline(spans: readonly Span[]): string {
  return spans
    .map(({ text, isStrong, isEmphasized, link }) => {
      const emphasized = isEmphasized ? `<em>${html(text)}</em>` : html(text)
      const strong = isStrong ? `<strong>${emphasized}</strong>` : emphasized
      return link === undefined ? strong : `<a href="${html(link)}" rel="noopener noreferrer nofollow">${strong}</a>`
    })
    .join('')
}
