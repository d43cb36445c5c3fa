import { exampleOf } from '../http/examples.ts'
import { isJsonObject } from '../text/json.ts'
import { javascriptText, jsonText, nodeSecrets, pythonText } from './literals.ts'
import type { ApiCall, Sample } from './reference.ts'

/** The request that a call's samples send. */
interface Message {
  readonly call: ApiCall
  readonly url: string
  /** Without those that prove who the sender is. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: unknown
  readonly streams: boolean
}

/** The samples of a call, for its whole reply and, if it has one, for its stream: curl, JavaScript and Python, then libraries. */
export function samplesOf(call: ApiCall, baseUrl: string): Sample[] {
  const kinds = call.reply.events === undefined ? [false] : [false, true]
  const plain = kinds.flatMap((streams) => {
    const message = messageOf(call, baseUrl, streams)
    const sources = { sh: curl(message), javascript: fetchSample(message), python: requestsSample(message) } as const
    const languages = ['sh', 'javascript', 'python'] as const
    return languages.map((language) => ({ language, library: undefined, streams, source: sources[language] }))
  })
  return [...plain, ...call.samples]
}

function messageOf(call: ApiCall, baseUrl: string, streams: boolean): Message {
  const valueOf = (name: string) => exampleOf(call.parameters.find((parameter) => parameter.name === name)?.schema)
  const path = call.path.replace(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(String(valueOf(name))))
  const { body } = call
  return {
    call,
    url: baseUrl + path,
    headers: [
      ...(call.needs !== 'key' && call.method !== 'GET' ? ([['Origin', baseUrl]] as const) : []),
      ...(body ? ([['Content-Type', 'application/json']] as const) : []),
      ...call.parameters
        .filter(({ place, required }) => place === 'header' && required)
        .map(({ name }) => [name, String(valueOf(name))] as const),
    ],
    body: streams && isJsonObject(body?.example) ? { ...body.example, stream: true } : body?.example,
    streams,
  }
}

// ---- curl

function curl({ call, url, headers, body, streams }: Message): string {
  const proof = {
    key: ['-H "Authorization: Bearer $TOLLGATE_KEY"'],
    session: ['-b "session=$TOLLGATE_SESSION"'],
    nothing: [],
  }
  const isDefault = call.method === (body === undefined ? 'GET' : 'POST')
  const shown = call.reply.body === undefined ? '-i ' : ''
  return [
    `curl ${streams ? '-N ' : shown}${isDefault ? '' : `-X ${call.method} `}${shellWord(url)}`,
    ...proof[call.needs],
    ...headers.map(([name, value]) => `-H ${shellText(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${shellText(jsonText(body, '  '))}`]),
  ].join(' \\\n  ')
}

const shellWord = (text: string) => (/^[\w:/.,@%+=-]+$/.test(text) ? text : shellText(text))
const shellText = (text: string) => (/^[^"$`\\!]*$/.test(text) ? `"${text}"` : `'${text.replaceAll("'", `'\\''`)}'`)

// ---- JavaScript

function fetchSample({ call, url, headers, body, streams }: Message): string {
  const proof = {
    key: [`    authorization: \`Bearer \${${nodeSecrets.key}}\`,`],
    session: [`    cookie: \`session=\${${nodeSecrets.session}}\`,`],
    nothing: [],
  }
  const lines = [
    ...proof[call.needs],
    ...headers.map(([name, value]) => `    ${javascriptName(name.toLowerCase())}: ${javascriptText(value)},`),
  ]
  const options = [
    ...(call.method === 'GET' ? [] : [`  method: '${call.method}',`]),
    ...(lines.length === 0 ? [] : ['  headers: {', ...lines, '  },']),
    ...(call.reply.status.startsWith('3') ? ["  redirect: 'manual',"] : []),
    ...(body === undefined ? [] : [`  body: JSON.stringify(${javascriptText(body, '  ')}),`]),
  ]
  const address = javascriptText(url)
  const request = options.length === 0 ? `fetch(${address})` : `fetch(${address}, {\n${options.join('\n')}\n})`
  return `const response = await ${request}\n${fetchEnd(call, streams)}`
}

const javascriptName = (name: string) => (/^[a-z]+$/.test(name) ? name : `'${name}'`)

function fetchEnd({ reply }: ApiCall, streams: boolean): string {
  if (reply.status.startsWith('3')) return "console.log(response.headers.get('location'))"
  const check = 'if (!response.ok) throw new Error(await response.text())\n'
  if (streams) return check + readEvents
  return check + (reply.body === undefined ? 'console.log(response.status)' : 'console.log(await response.json())')
}

const readEvents = `
let rest = ''
for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
  const events = (rest + chunk).split('\\n\\n')
  rest = events.pop()
  for (const event of events) {
    const [, data] = /^data: (.+)$/m.exec(event) ?? []
    if (data && data !== '[DONE]') console.log(JSON.parse(data))
  }
}`

// ---- Python

function requestsSample({ call, url, headers, body, streams }: Message): string {
  const written = [
    ...(call.needs === 'key' ? [`"Authorization": f"Bearer {os.environ['TOLLGATE_KEY']}"`] : []),
    // The library sets Content-Type itself.
    ...headers
      .filter(([name]) => name !== 'Content-Type')
      .map(([name, value]) => `${pythonText(name)}: ${pythonText(value)}`),
  ]
  const parts = [
    pythonText(url),
    ...(call.needs === 'session' ? ['cookies={"session": os.environ["TOLLGATE_SESSION"]}'] : []),
    ...(written.length === 0 ? [] : [`headers={${written.join(', ')}}`]),
    ...(body === undefined ? [] : [`json=${pythonText(body, '    ')}`]),
    ...(streams ? ['stream=True'] : []),
    ...(call.reply.status.startsWith('3') ? ['allow_redirects=False'] : []),
  ]
  const imports = call.needs === 'nothing' ? 'import requests\n' : 'import os\n\nimport requests\n'
  const request = `requests.${call.method.toLowerCase()}(\n${parts.map((part) => `    ${part},\n`).join('')})`
  return `${imports}\nresponse = ${request}\n${requestsEnd(call, streams)}`
}

function requestsEnd({ reply }: ApiCall, streams: boolean): string {
  if (reply.status.startsWith('3')) return 'print(response.headers["location"])'
  const check = 'response.raise_for_status()\n'
  if (streams) {
    return `${check}for line in response.iter_lines(decode_unicode=True):
    if line.startswith("data: "):
        print(line.removeprefix("data: "))`
  }
  return check + (reply.body === undefined ? 'print(response.status_code)' : 'print(response.json())')
}
