import type { MailText } from './catalogue.ts'

/** How a mail is sent: the subject, and the same words as plain text and as HTML. */
export interface RenderedMail {
  readonly subject: string
  readonly text: string
  readonly html: string
}

interface Sender {
  /** The address of this service: the only host of links. */
  readonly baseUrl: string
  /** Who sends the mail, for its last line. */
  readonly name: string
}

/** Renders the words of a mail. The HTML has inline styles alone and loads nothing. */
export function renderMail(mail: MailText, sender: Sender): RenderedMail {
  const { subject, paragraphs, button, code, closing } = mail
  const link = button && { label: button.label, href: new URL(button.path, sender.baseUrl).href }
  const signature = mail.isAsWritten ? sender.name : `${sender.name}, ${sender.baseUrl}`
  const text = [
    ...paragraphs,
    ...(link ? [`${link.label}:\n${link.href}`] : []),
    ...(code ? [`${code.label}\n${code.value}`] : []),
    ...(closing === undefined ? [] : [closing]),
    `-- \n${signature}`,
  ].join('\n\n')
  const html = [
    ...paragraphs.map(paragraph),
    ...(link ? [linkButton(link)] : []),
    ...(code ? [paragraph(code.label), codeBox(code.value)] : []),
    ...(closing === undefined ? [] : [paragraph(closing)]),
    `<p style="${styles.signature}">${escape(signature)}</p>`,
  ].join('\n')
  return { subject, text: `${text}\n`, html: page(subject, html, mail.isAsWritten ? '' : ' lang="en"') }
}

const styles = {
  body: 'margin:0;padding:24px;background:#f4f5f7',
  card: 'max-width:480px;margin:0 auto;padding:32px;background:#fff;border-radius:8px;font:16px/1.5 system-ui,-apple-system,Segoe UI,sans-serif;color:#1a1b1e',
  paragraph: 'margin:0 0 16px;white-space:pre-line',
  button:
    'display:inline-block;padding:12px 24px;border-radius:6px;background:#1c5bb8;color:#fff;text-decoration:none;font-weight:600',
  address: 'margin:0 0 16px;font-size:13px;color:#5c5f66;word-break:break-all',
  code: 'margin:0 0 16px;font:600 24px/1.5 ui-monospace,Menlo,Consolas,monospace;letter-spacing:2px',
  signature: 'margin:24px 0 0;font-size:13px;color:#5c5f66',
} as const

function page(title: string, body: string, language: string): string {
  return `<!doctype html>
<html${language}>
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escape(title)}</title></head>
<body style="${styles.body}">
<div style="${styles.card}">
${body}
</div>
</body>
</html>
`
}

function paragraph(text: string): string {
  return `<p style="${styles.paragraph}">${escape(text)}</p>`
}

/** The address is also there in full: some readers show no buttons, and people check where a link leads. */
function linkButton({ label, href }: { readonly label: string; readonly href: string }): string {
  const address = escape(href)
  return `<p style="${styles.paragraph}"><a href="${address}" style="${styles.button}">${escape(label)}</a></p>
<p style="${styles.address}">${address}</p>`
}

function codeBox(code: string): string {
  return `<p style="${styles.code}">${escape(code)}</p>`
}

function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}
