import { problems } from '../problems.ts'
import { fieldsOf, typeOf, type Field } from './fields.ts'
import { codeBlock, codeTabs, escapeHtml, paragraphs, prose, type CodeVariant } from './html.ts'
import { jsonText } from './literals.ts'
import { badge } from './navigation.ts'
import type { ApiCall, Parameter, Sample } from './reference.ts'

/**
 * The main part of a call's page: what it does and what it takes, beside samples and an example of the response. `tryIt` is
 * HTML.
 */
export function renderCall(call: ApiCall, samples: readonly Sample[], tryIt: string): string {
  return `<article class="call">
<div class="about">
<p class="tag">${escapeHtml(call.tag)}</p>
<h1>${escapeHtml(call.summary)}</h1>
<p class="address">${badge(call)} <code>${escapeHtml(call.path).replaceAll('/', '/<wbr>')}</code></p>
${paragraphs(call.description)}
<p class="proof">${proof[call.needs]}</p>
</div>
<div class="examples">
${tryIt}
${renderSamples('Request', samples, false)}
${renderExample(call)}
${renderSamples('Stream', samples, true)}
${call.reply.events ? codeBlock(call.reply.events.example.trim()) : ''}
</div>
<div class="details">
${renderParameters(call.parameters)}
${section('Body', 'body', renderFields(fieldsOf(call.body?.schema), 'body', true))}
${renderReply(call)}
${renderErrors(call)}
${renderHeaders(call)}
</div>
</article>`
}

const proof = {
  key: 'Send an API key in <code>Authorization: Bearer &lt;key&gt;</code>. Call from a server: calls from a browser are refused.',
  session:
    'Needs the <code>session</code> cookie of a signed-in person. Changes are accepted only from pages of the same origin.',
  nothing: 'Needs neither an API key nor a session.',
}

// ---- the examples

const names: Readonly<Record<Sample['language'], string>> = { sh: 'curl', javascript: 'JavaScript', python: 'Python' }

function variantOf({ language, library, source }: Sample): CodeVariant {
  return library === undefined
    ? { id: language, label: names[language], source }
    : { id: `${language}-${library}`, label: `${library} (${names[language]})`, source }
}

function renderSamples(title: string, samples: readonly Sample[], streams: boolean): string {
  const shown = samples.filter((sample) => sample.streams === streams)
  return shown.length === 0 ? '' : `<h2>${title}</h2>\n${codeTabs(shown.map(variantOf))}`
}

function renderExample({ reply }: ApiCall): string {
  if (reply.body === undefined) return ''
  return `<h2>Response</h2>\n${codeBlock(jsonText(reply.body.example))}`
}

// ---- the details

function section(title: string, id: string, content: string): string {
  return content === '' ? '' : `<section>\n<h2 id="${id}">${title}</h2>\n${content}\n</section>`
}

function renderParameters(parameters: readonly Parameter[]): string {
  const titles = { path: 'Path', query: 'Query', header: 'Request headers' }
  return (['path', 'query', 'header'] as const)
    .map((place) => {
      const shown = parameters.filter((parameter) => parameter.place === place).map(fieldOf)
      return section(titles[place], place, renderFields(shown, place, place !== 'path'))
    })
    .join('\n')
}

function fieldOf({ name, schema, required, description }: Parameter): Field {
  return { name, type: typeOf(schema), required, description, fields: [], isList: false }
}

/** `anchor` starts the ids of the fields, so that each can be linked to. */
function renderFields(fields: readonly Field[], anchor: string, showRequired: boolean): string {
  if (fields.length === 0) return ''
  const items = fields.map((field) => {
    const id = `${anchor}.${escapeHtml(field.name)}`
    const required = showRequired && field.required ? ' <span class="required">required</span>' : ''
    return `<li id="${id}"><p><a href="#${id}"><code>${escapeHtml(field.name)}</code></a> <span class="type">${prose(field.type)}</span>${required}</p>
${paragraphs(field.description)}${renderFields(field.fields, id, showRequired)}</li>`
  })
  return `<ul class="fields">\n${items.join('\n')}\n</ul>`
}

function renderReply({ reply }: ApiCall): string {
  const fields = renderFields(fieldsOf(reply.body?.schema), 'response', false)
  return [
    section(
      `Response <span class="status">${escapeHtml(reply.status)}</span>`,
      'response',
      `${paragraphs(reply.description)}\n${fields}`,
    ),
    section('Stream', 'stream', paragraphs(reply.events?.description ?? '')),
  ].join('\n')
}

function renderHeaders({ reply }: ApiCall): string {
  const headers = reply.headers.map(
    ({ name, description }) => `<li><p><code>${escapeHtml(name)}</code></p>\n${paragraphs(description)}</li>`,
  )
  return section(
    'Response headers',
    'headers',
    headers.length === 0 ? '' : `<ul class="fields">${headers.join('\n')}</ul>`,
  )
}

function renderErrors({ errors }: ApiCall): string {
  const rows = [...Map.groupBy(errors, (code) => problems[code].status)].map(([status, codes]) => {
    const links = codes.map((code) => `<a href="/docs/errors#${code}"><code>${code}</code></a>`)
    return `<tr><th>${status}</th><td>${links.join(' ')}</td></tr>`
  })
  return section(
    'Errors',
    'errors',
    rows.length === 0 ? '' : `<table class="errors"><tbody>${rows.join('\n')}</tbody></table>`,
  )
}
