import assert from 'node:assert/strict'
import { test } from 'node:test'
import { renderMarkdown } from './markdown.ts'

const render = (source: string) =>
  renderMarkdown(source, (target) =>
    target.startsWith('#') || target === 'api.md' ? target.replace('.md', '') : undefined,
  )

test('headings have the anchors that links on the page use', () => {
  assert.equal(
    render('# A\n\n## curl, and `fetch`'),
    '<h1 id="a">A</h1>\n<h2 id="curl-and-fetch">curl, and <code>fetch</code></h2>',
  )
  assert.equal(render('See [curl](#curl-and-fetch).'), '<p>See <a href="#curl-and-fetch">curl</a>.</p>')
})

test('lists, tables and code keep their parts', () => {
  assert.equal(
    render('- one\n  more\n- **two:** `x`'),
    '<ul>\n<li>one\n  more</li>\n<li><strong>two:</strong> <code>x</code></li>\n</ul>',
  )
  assert.equal(
    render('| A | B |\n| - | - |\n| 1 | `2` |'),
    '<table>\n<thead><tr><th>A</th><th>B</th></tr></thead>\n<tbody>\n<tr><td>1</td><td><code>2</code></td></tr>\n</tbody>\n</table>',
  )
  assert.equal(
    render('```sh\na\n\n**b** <c>\n```\n\nd'),
    '<pre tabindex="0"><code>a\n\n**b** &#60;c&#62;</code></pre>\n<p>d</p>',
  )
})

test('text is escaped, and code is not read as Markdown', () => {
  assert.equal(render('a <b> & "c"'), '<p>a &#60;b&#62; &#38; &#34;c&#34;</p>')
  assert.equal(render('`[a](b) **c** <d>`'), '<p><code>[a](b) **c** &#60;d&#62;</code></p>')
})

test('a link to something that is not served is text', () => {
  assert.equal(
    render('[the API](api.md), [an example](../examples/x.mjs)'),
    '<p><a href="api">the API</a>, an example</p>',
  )
  assert.equal(render('[x](javascript:alert)'), '<p>x</p>')
})

test('code blocks that follow one another are one program in several languages', () => {
  assert.equal(
    render('```sh\na\n```\n\n```js\nb<\n```\n\nc\n\n```json\nd\n```'),
    [
      '<div class="tabs">',
      '<figure data-language="sh"><figcaption>curl</figcaption><pre tabindex="0"><code>a</code></pre></figure>',
      '<figure data-language="javascript"><figcaption>JavaScript</figcaption><pre tabindex="0"><code>b&#60;</code></pre></figure>',
      '</div>',
      '<p>c</p>',
      '<pre tabindex="0"><code>d</code></pre>',
    ].join('\n'),
  )
})
