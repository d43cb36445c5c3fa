import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { createTransport } from 'nodemailer'
import { createTestLog } from '../../../tests/support/log.ts'
import { listen } from '../../../tests/support/server.ts'
import { openDemoProvider, type DemoProvider } from '../provider/provider.ts'

let demo: DemoProvider
const link = 'http://localhost:8080/signin/link#abc-123'

before(async () => {
  const order = { baseUrl: 'http://localhost:8080', port: 0, mailPort: 0, clientSecret: 'a secret of both' }
  demo = await openDemoProvider(order, createTestLog().log)
})
after(() => demo.close())

async function send(subject: string, html = `<html><head></head><body><a href="${link}">Sign in</a></body></html>`) {
  const transport = createTransport({ host: '127.0.0.1', port: demo.mailPort, ignoreTLS: true })
  const to = 'ruth@penhallow.example'
  await transport.sendMail({ from: 'tollgate@penhallow.example', to, subject, text: `Sign in:\n${link}\n`, html })
  transport.close()
}

async function open(path: string) {
  const response = await fetch(`${demo.issuer}${path}`)
  return {
    status: response.status,
    text: await response.text(),
    policy: response.headers.get('content-security-policy'),
  }
}

describe('the mail of the demo', () => {
  test('is listed, newest first, and the list looks for more', async () => {
    assert.match((await open('/mail')).text, /There is no mail yet/)
    await send('First <subject>')
    await send('Second')
    const list = await open('/mail')
    assert.equal(list.status, 200)
    assert.ok(list.text.indexOf('Second') < list.text.indexOf('First &lt;subject&gt;'))
    assert.match(list.text, /ruth@penhallow\.example/)
    assert.match(list.text, /<meta http-equiv="refresh" content="2">/)
  })

  test('is shown as text with links, and as HTML that runs no script and sends no form', async () => {
    await send('Third', `<html><head></head><body><script>alert(1)</script><a href="${link}">Sign in</a></body></html>`)
    const [, id = ''] = /href="\/mail\/(\d+)"/.exec((await open('/mail')).text) ?? []
    const page = await open(`/mail/${id}`)
    assert.ok(page.text.includes(`<a href="${link}" target="_blank">`))
    assert.match(page.text, /<iframe [^>]*sandbox="allow-popups allow-popups-to-escape-sandbox"/)
    assert.ok(!page.text.includes('<script'))
    assert.match(page.policy ?? '', /frame-src 'self'/)
    const document = await open(`/mail/${id}/html`)
    assert.ok(document.text.includes('<base target="_blank">') && document.text.includes(link))
    assert.match(document.policy ?? '', /default-src 'none'.*; sandbox allow-popups allow-popups-to-escape-sandbox;/)
    assert.doesNotMatch(document.policy ?? '', /allow-scripts|allow-same-origin|allow-forms|script-src/)
  })

  test('that does not exist is not found', async () => {
    for (const path of ['/mail/999', '/mail/999/html']) assert.equal((await open(path)).status, 404)
  })

  test('is shown under its own host name only', async () => {
    const { hostname, port } = new URL(demo.issuer)
    const socket = connect(Number(port), hostname)
    socket.end('GET /mail HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n')
    assert.match(await text(socket), /^HTTP\/1\.1 421 /)
  })

  test('comes to another port if the preferred one is taken', async () => {
    const taken = createServer()
    const mailPort = await listen(taken)
    const order = { baseUrl: 'http://localhost:8080', port: 0, mailPort, clientSecret: 'x' }
    const other = await openDemoProvider(order, createTestLog().log)
    assert.ok(other.mailPort > 0 && other.mailPort !== mailPort)
    await other.close()
    taken.close()
  })
})
