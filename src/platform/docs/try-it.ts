import { exampleOf } from '../http/examples.ts'
import { escapeHtml } from './html.ts'
import { jsonText } from './literals.ts'
import { pageOf } from './navigation.ts'
import type { ApiCall, Parameter } from './reference.ts'

interface TryItParts {
  readonly tryItUrl: string
  /** The URL of the script. */
  readonly script: string
  /** Fills this service's values into an example. */
  readonly localise: (text: string) => string
}

/**
 * The part of a call's page in which people who are signed in make the call; empty for a call that needs no key. Its script
 * finds out who is signed in: the page is the same for everyone.
 */
export function renderTryIt(call: ApiCall, { tryItUrl, script, localise }: TryItParts): string {
  if (call.needs !== 'key') return ''
  const signIn = `/signin?return_to=${encodeURIComponent(`${pageOf(call)}#try`)}`
  return `<section class="try" id="try" data-url="${tryItUrl}" data-method="${call.method}" data-path="${escapeHtml(tryItUrl + call.path)}">
<p class="try-visitor"><a href="${signIn}">Sign in to try it</a><noscript>, in a browser with scripts</noscript></p>
<p class="try-fault" hidden></p>
<details hidden>
<summary>Try it</summary>
<form autocomplete="off">
${call.parameters.map((parameter) => renderInput(parameter, localise)).join('\n')}
${renderBody(call, localise)}
<p class="try-buttons"><button class="send" type="submit">Send</button> <button class="stop" type="button" hidden>Stop</button></p>
<p class="try-payer">Sent with a scratch key of your own, which never leaves the server. It counts and costs the same as any call.</p>
</form>
<div class="try-answer" hidden>
<p role="status"></p>
<pre tabindex="0" aria-label="Response"><code></code></pre>
<details><summary>Response headers</summary><pre tabindex="0" aria-label="Response headers"><code></code></pre></details>
</div>
</details>
<script src="${script}" defer></script>
</section>`
}

/** Headers are left to programs. */
function renderInput({ name, place, required, schema }: Parameter, localise: TryItParts['localise']): string {
  if (place === 'header') return ''
  const example: unknown = required ? JSON.parse(localise(JSON.stringify(exampleOf(schema)))) : ''
  const value = `value="${escapeHtml(String(example))}"${required ? ' required' : ''}`
  return `<label><code>${escapeHtml(name)}</code>
<input name="${escapeHtml(name)}" data-place="${place}" ${value} spellcheck="false" autocapitalize="off"></label>`
}

function renderBody({ body, reply }: ApiCall, localise: TryItParts['localise']): string {
  if (body === undefined) return ''
  const text = localise(jsonText(body.example))
  const streams =
    reply.events === undefined ? '' : '<label class="try-streams"><input type="checkbox"> Stream the response</label>'
  return `<label>Body
<textarea rows="${text.split('\n').length + 1}" spellcheck="false" autocapitalize="off">
${escapeHtml(text)}</textarea></label>
${streams}`
}
