import assert from 'node:assert/strict'
import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { describe, test } from 'node:test'
import { createConfigFolder, faultsOf, provider, upstream } from '../../../tests/support/config.ts'
import { loadConfig } from './config.ts'
import { asOrdinaryUser } from '../../../tests/support/ordinary-user.ts'

const { root, folder, load } = createConfigFolder()
const named = (file: string) => () => loadConfig({ environment: { TOLLGATE_CONFIG: file }, root, cwd: root })

describe('without a file', () => {
  const config = loadConfig({ environment: {}, root, cwd: folder })

  test('every setting has its default', () => {
    const { models, sign_in: signIn, ...rest } = config
    assert.deepEqual(rest, {
      base_url: 'http://localhost:8080',
      database: 'embedded',
      documents: { store: { kind: 'database' } },
      listen: { host: '127.0.0.1', port: 8080, processes: 1, trusted_proxies: [], drain_delay: 0 },
      currency: 'USD',
      firm: { address: [], closing: 'Yours sincerely,', time_zone: 'UTC', locale: 'en-GB' },
      invoicing: {
        number: 'INV-{year}-{number:4}',
        credit_note_number: 'CN-{year}-{number:4}',
        run: 'off',
        run_day: 1,
        due_days: 30,
        reminders: [],
        tax: [],
        markup_percent: 0,
      },
      tasks: { mail_from: '07:00' },
      letters: { approval: 'anyone' },
      alerts: { allowed_networks: [] },
      retention: { erasure_after: '30 days' },
      aliases: { default: 'tiny' },
      limits: {
        requests_per_minute: 60,
        tokens_per_minute: 100_000,
        request_bytes: 1_048_576,
        file_bytes: 16_777_216,
        fetch_hosts: [],
        batch_requests: 50_000,
        batch_bytes: 67_108_864,
        batch_in_flight: 8,
        batch_kept: '29 days',
      },
      session: { idle: 3_600_000, absolute: 43_200_000 },
      file: null,
      data: path.join(root, 'data'),
      demo: true,
    })
    assert.deepEqual(models, [
      {
        id: 'tiny',
        engine: 'local',
        file: path.join(root, 'models/tiny/tiny.gguf'),
        context: 1024,
        max_output_tokens: 512,
        parallel: 8,
        price: { input: 100_000n, output: 400_000n },
      },
    ])
    assert.deepEqual(signIn, {
      providers: [],
      email_link: false,
      password: false,
      password_hash: { memory: 19_456, passes: 2 },
      passkey: true,
      second_factor: 'optional',
      starts_per_minute: 120,
      sign_up: { policy: 'invited', domains: [] },
    })
  })

  test('the configuration is frozen', () => {
    assert.throws(() => Object.assign(config, { demo: false }), TypeError)
    assert.throws(() => Object.assign(config.limits, { request_bytes: 1 }), TypeError)
    assert.throws(() => config.models.push(...config.models), TypeError)
    assert.throws(() => Object.assign(config.models[0]?.price ?? {}, { input: 0n }), TypeError)
  })

  test('an empty file means the same', () => {
    for (const yaml of ['', '# nothing yet\n', '{}', '---\n']) {
      assert.deepEqual({ ...load(yaml), file: null }, config)
    }
  })

  test('tollgate.yaml of the project is used if it exists, and TOLLGATE_CONFIG overrides it', () => {
    const usual = path.join(root, 'tollgate.yaml')
    writeFileSync(usual, 'currency: EUR')
    try {
      const found = loadConfig({ environment: { TOLLGATE_CONFIG: '' }, root })
      assert.deepEqual([found.currency, found.file], ['EUR', usual])
      assert.equal(load('currency: CHF').currency, 'CHF')
    } finally {
      rmSync(usual)
    }
  })
})

describe('the environment', () => {
  test('overrides the file', () => {
    const yaml = 'listen: { host: 10.0.0.1, port: 1000 }\ndatabase: postgres://file/db'
    const variables = { PORT: '9000', HOST: '::', DATABASE_URL: 'postgres://tollgate@db/tollgate' }
    const config = load(yaml, variables)
    assert.deepEqual(config.listen, { host: '::', port: 9000, processes: 1, trusted_proxies: [], drain_delay: 0 })
    assert.equal(config.database, 'postgres://tollgate@db/tollgate')
    assert.equal(config.base_url, 'http://localhost:9000')
    assert.equal(load(yaml).listen.port, 1000)
  })

  test('the delay of a stop is 5 s behind a proxy', () => {
    const proxied = 'trusted_proxies: [127.0.0.1]'
    const delays = ['port: 1', proxied, `${proxied}, drain_delay: 0s`, 'drain_delay: 2m'].map(
      (listen) => load(`listen: { ${listen} }`).listen.drain_delay,
    )
    assert.deepEqual(delays, [0, 5000, 0, 120_000])
  })

  test('the listening address is the default of base_url', () => {
    const local = ['127.0.0.1', '0.0.0.0', '::', '0:0::0', '::1', 'localhost', 'fe80::1%eth0']
    for (const [host, called] of [
      ...local.map((each) => [each, 'localhost'] as const),
      ['127.0.0.2', '127.0.0.2'],
      ['192.168.1.20', '192.168.1.20'],
      ['FD00::20', '[fd00::20]'],
      ['tollgate.lan', 'tollgate.lan'],
    ] as const) {
      assert.equal(load('', { HOST: host }).base_url, `http://${called}:8080`)
    }
    assert.equal(load('base_url: https://firm.example', { HOST: '127.0.0.2' }).base_url, 'https://firm.example')
  })

  test('an empty variable counts as not set', () => {
    const empty = { PORT: '', HOST: '', DATABASE_URL: '', TOLLGATE_DATA: '', TOLLGATE_DEMO: '' }
    assert.deepEqual(load('currency: EUR', empty), load('currency: EUR'))
  })

  test('every invalid variable is reported, together with the errors of the file', () => {
    const bad = { PORT: '70000', HOST: 'a b', DATABASE_URL: 'mysql://secret@db', TOLLGATE_DEMO: 'no' }
    assert.deepEqual(
      faultsOf(() => load('currency: euro', bad)),
      [
        'PORT: must be a whole number from 0 to 65535',
        'HOST: must be an IP address or a host name',
        'DATABASE_URL: must be embedded, or an address such as postgres://user:password@host:5432/name',
        'TOLLGATE_DEMO: must be 1 or 0',
        'currency: must be a currency code of three capital letters such as USD',
      ],
    )
    for (const PORT of ['80a', '-1', '1e3', ' 80', '0x50', '65536', '8.0']) {
      assert.deepEqual(
        faultsOf(() => load('', { PORT })),
        ['PORT: must be a whole number from 0 to 65535'],
      )
    }
  })

  test('the data folder is relative to the current folder, and by default in the project', () => {
    assert.equal(load('').data, path.join(root, 'data'))
    assert.equal(load('', { TOLLGATE_DATA: './elsewhere' }).data, path.join(root, 'elsewhere'))
    assert.equal(load('', { TOLLGATE_DATA: '/var/lib/tollgate' }).data, '/var/lib/tollgate')
  })

  test('samples are not created by default with a real database or a real way to sign in', () => {
    const database = 'database: postgres://db/tollgate'
    assert.equal(load('').demo, true)
    assert.equal(load(database).demo, false)
    assert.equal(load('', { DATABASE_URL: 'postgres://db/tollgate' }).demo, false)
    assert.equal(load(provider({})).demo, false)
    assert.equal(load('mail: { url: "smtp://mail.example", from: a@b.c }').demo, false)
    assert.equal(load(database, { TOLLGATE_DEMO: '1' }).demo, true)
    assert.equal(load('', { TOLLGATE_DEMO: '0' }).demo, false)
  })

  test('other variables have no effect', () => {
    const others = { TOLLGATE_PORT: '1', NODE_ENV: 'production', PGHOST: 'elsewhere', CURRENCY: 'EUR', port: '1' }
    assert.deepEqual(load('', others), load(''))
  })
})

describe('a value', () => {
  test('is converted: ms, bytes, 10⁻¹² units, absolute paths, origins', () => {
    const config = load(`
base_url: https://Tollgate.Example.com:443/
models:
  - { id: a, engine: local, file: ../models/a.gguf, context: 4096, max_output_tokens: 1024, price: { input: "0.10", output: "12.345678" } }
  - { id: b, engine: local, file: /models/b.gguf, context: 2, max_output_tokens: 1, parallel: 1 }
  - id: c
    engine: openai
    endpoints: [{ url: "http://127.0.0.1:9101/v1/", key: k }, { url: "https://other.example/v1", weight: 3 }]
    upstream_model: m
    tokenizer: tokenizer.json
    tokenizer_margin: 0.5%
    context: 100
    max_output_tokens: 99
    timeout: { first_token: 500ms, total: 1h }
    price: { input: "0", output: "0.000001" }
  - { id: d, engine: ai-sdk, package: "@ai-sdk/anthropic", upstream_model: m, key: k, context: 9, max_output_tokens: 5, fallback: a }
limits: { request_bytes: 64KiB }
documents: { store: s3://files/of/firm, former_store: ../documents, s3: { access_key_id: a, secret_access_key: b } }
session: { idle: 90s, absolute: 90s }
firm: { time_zone: europe/zurich, locale: DE-ch }
sign_in: { sign_up: { policy: domain, domains: [Example.COM, bücher.example] } }
`)
    assert.equal(config.base_url, 'https://tollgate.example.com')
    assert.deepEqual(config.models, [
      {
        id: 'a',
        engine: 'local',
        file: path.join(root, 'models/a.gguf'),
        context: 4096,
        max_output_tokens: 1024,
        parallel: 8,
        price: { input: 100_000n, output: 12_345_678n },
      },
      { id: 'b', engine: 'local', file: '/models/b.gguf', context: 2, max_output_tokens: 1, parallel: 1 },
      {
        id: 'c',
        engine: 'openai',
        endpoints: [
          { url: 'http://127.0.0.1:9101/v1', key: 'k', weight: 1 },
          { url: 'https://other.example/v1', weight: 3 },
        ],
        upstream_model: 'm',
        context: 100,
        max_output_tokens: 99,
        tokenizer: path.join(root, 'settings/tokenizer.json'),
        tokenizer_margin: 0.5,
        timeout: { connect: 5000, first_token: 500, total: 3_600_000 },
        pass: [],
        price: { input: 0n, output: 1n },
      },
      {
        id: 'd',
        engine: 'ai-sdk',
        package: '@ai-sdk/anthropic',
        upstream_model: 'm',
        key: 'k',
        fallback: 'a',
        context: 9,
        max_output_tokens: 5,
        tokenizer: 'auto',
        tokenizer_margin: 2,
        timeout: { connect: 5000, first_token: 30_000, total: 300_000 },
      },
    ])
    assert.deepEqual(config.aliases, {})
    assert.equal(config.limits.request_bytes, 65_536)
    assert.deepEqual(config.session, { idle: 90_000, absolute: 90_000 })
    assert.deepEqual(config.documents, {
      store: { kind: 'bucket', bucket: 'files', prefix: 'of/firm/' },
      former_store: { kind: 'folder', folder: path.join(root, 'documents') },
      s3: { region: 'us-east-1', access_key_id: 'a', secret_access_key: 'b', path_style: false },
    })
    assert.deepEqual([config.firm.time_zone, config.firm.locale], ['Europe/Zurich', 'de-CH'])
    assert.equal(load('firm: { time_zone: utc }').firm.time_zone, 'UTC')
    assert.deepEqual(config.sign_in.sign_up.domains, ['example.com', 'xn--bcher-kva.example'])
  })

  test('may contain environment variables, whose values are not expanded again', () => {
    const yaml = upstream({ endpoints: [{ url: 'https://${HOST_NAME}/v1', key: 'a${KEY}b' }] })
    const config = load(yaml, { HOST_NAME: 'models.example', KEY: '${HOST_NAME} $& $1' })
    const [model] = config.models
    assert.ok(model?.engine === 'openai')
    assert.deepEqual(model.endpoints, [{ url: 'https://models.example/v1', key: 'a${HOST_NAME} $& $1b', weight: 1 }])
  })

  test('with a variable whose brace is not closed is refused, even if the variable is set', () => {
    assert.throws(
      () => load('currency: "${A"', { A: 'EUR' }),
      /currency: has a \$\{ that is not of the form \$\{NAME\}/,
    )
  })

  test('an alias may point to the shipped model', () => {
    assert.deepEqual(load('aliases: { quick: tiny }').aliases, { default: 'tiny', quick: 'tiny' })
  })

  const accepted: [string, string][] = [
    ['an issuer on a loopback name', provider({ issuer: 'http://localhost:9000' })],
    ['an issuer on 127.0.0.0/8', provider({ issuer: 'http://127.0.0.2:9000/realm' })],
    ['an issuer on ::1', provider({ issuer: 'http://[::1]:9000' })],
    ['an upstream without TLS', upstream({ endpoints: [{ url: 'http://10.0.0.7:8000/v1' }] })],
    ['a database behind a socket', 'database: "postgres:///tollgate?host=/run/postgresql"'],
    ['a database with TLS', 'database: "postgres://db/t?sslmode=verify-full&sslrootcert=/ca.pem&application_name=a"'],
    ['a port that the system chooses', 'listen: { port: 0 }'],
    ['proxies', 'listen: { trusted_proxies: [10.0.0.0/8, "fd00::/8", "2001:db8::/48", 192.0.2.1] }'],
    ['metrics', 'metrics: { token: t }'],
    ['mail and text messages', 'mail: { url: "smtp://u:p@m:25", from: a@b.c }\nsms: { url: "https://s/x", token: t }'],
  ]
  for (const [name, yaml] of accepted) {
    test(`accepts ${name}`, () => {
      assert.doesNotThrow(() => load(yaml))
    })
  }

  test('a misspelt parameter of TLS is refused: the driver would connect without it', () => {
    for (const name of ['sslMode', 'ssl_mode', 'sslmod', 'SSLMODE', 'ssslmode']) {
      const [fault, ...others] = faultsOf(() =>
        load('', { DATABASE_URL: `postgres://u:secret@db/t?${name}=verify-full` }),
      )
      assert.match(
        fault ?? '',
        new RegExp(`^DATABASE_URL: has an unknown parameter ${name}: those of TLS are ssl, sslmode`),
      )
      assert.deepEqual(others, [])
      assert.ok(!fault?.includes('secret'))
    }
  })

  test('an issuer is kept byte for byte', () => {
    for (const issuer of [
      'https://id.example',
      'https://id.example/',
      'https://id.example/a/',
      'https://ID.example:443',
    ]) {
      assert.equal(load(provider({ issuer })).sign_in.providers[0]?.issuer, issuer)
    }
  })
})

describe('a configuration file', () => {
  test('that is missing, a folder or not text is refused', () => {
    assert.deepEqual(faultsOf(named('missing.yaml')), [`${path.join(root, 'missing.yaml')}: there is no such file`])
    assert.deepEqual(faultsOf(named('settings')), [`${folder}: is a folder, not a file`])
    assert.deepEqual(
      faultsOf(() => load(Uint8Array.of(0x61, 0x3a, 0x20, 0xff, 0xfe))),
      [`${path.join(folder, 'test.yaml')}: is not text in UTF-8`],
    )
    assert.deepEqual(faultsOf(named('a\0b')), ['TOLLGATE_CONFIG: must be a path'])
  })

  test('without read permission is refused', async () => {
    const file = path.join(folder, 'closed.yaml')
    writeFileSync(file, '')
    chmodSync(file, 0)
    chmodSync(folder, 0o755)
    const errors = await asOrdinaryUser(() => faultsOf(named(file)))
    assert.deepEqual(errors, [`${file}: this user may not read it`])
  })

  test('that would exhaust memory is refused', () => {
    const rows = Array.from({ length: 10 }, (_, n) => `a${n}: &x${n} [${n === 0 ? '1' : `*x${n - 1},`.repeat(9)}]\n`)
    const bomb = rows.join('')
    const [line = '', ...others] = faultsOf(() => load(bomb))
    assert.match(line, /^test\.yaml: cannot be read as YAML: Excessive alias count/)
    assert.deepEqual(others, [])
    assert.equal(faultsOf(() => load('['.repeat(100_000))).length, 10)
  })
})

const processes = (yaml: string) => load(yaml).listen.processes

test('processes: auto is one per core, or 1 with a local model; a number is used unchanged', () => {
  assert.equal(processes(`${upstream()}listen: { processes: auto }`), availableParallelism())
  assert.equal(processes('listen: { processes: auto }'), 1)
  assert.equal(processes(`${upstream()}listen: { processes: 3 }`), 3)
  assert.equal(processes(upstream()), 1)
})
