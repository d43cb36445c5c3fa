import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { stringify } from 'yaml'
import { createConfigFolder } from '../../../tests/support/config.ts'
import { groupModels } from './model-groups.ts'
import { readUsageExport, type ExportOptions } from './usage-export.ts'

const { load } = createConfigFolder()

const url = 'https://vendor.example/v1'
const common = { engine: 'openai', endpoints: [{ url }], context: 1000, max_output_tokens: 100 }
const configured = (names: Readonly<Record<string, string>>) =>
  load(stringify({ models: Object.entries(names).map(([id, name]) => ({ id, upstream_model: name, ...common })) }))
    .models

/** Ids of models by the names that the upstream uses. */
const models = configured({ far: 'gpt-4o', claude: 'claude-sonnet-4-20250514', routed: 'openai/gpt-4o:free' })

async function read(text: string, options: Partial<ExportOptions> = {}) {
  async function* pieces() {
    for (let start = 0; start < text.length; start += 100) yield Buffer.from(text.slice(start, start + 100))
  }
  return readUsageExport(pieces(), {
    models: groupModels(models),
    skippedModels: new Set(),
    skippedColumns: new Set(),
    ...options,
  })
}

/** The counts of each day and group, `day group: measure count, …`. */
async function sumsOf(text: string, options: Partial<ExportOptions> = {}): Promise<string[]> {
  const found = await read(text, options)
  assert.ok(!Array.isArray(found), JSON.stringify(found))
  return found.days.map(
    ({ day, group, counts }) =>
      `${day} ${group.name}: ${[...counts].map(([measure, count]) => `${measure} ${count}`).join(', ')}`,
  )
}

const october = (day: number) => Date.UTC(2026, 9, day) / 1000
const result = (model: string | null, counts: object = {}) => ({
  object: 'organization.usage.completions.result',
  input_tokens: 1000,
  output_tokens: 500,
  input_cached_tokens: 800,
  input_audio_tokens: 0,
  num_model_requests: 5,
  project_id: null,
  user_id: null,
  api_key_id: null,
  model,
  batch: null,
  service_tier: null,
  ...counts,
})
const bucket = (day: number, ...results: object[]) => ({
  object: 'bucket',
  start_time: october(day),
  end_time: october(day + 1),
  results,
})
const page = (data: object[], more = {}) => ({ object: 'page', data, has_more: false, next_page: null, ...more })

describe("a vendor's usage", () => {
  const openAiSums = ['2026-10-01 gpt-4o: input 200, cached_input 800, cache_write 0, output 500, requests 5']
  const inTwo = [
    bucket(1, result('gpt-4o-2024-08-06', { project_id: 'a' }), result('gpt-4o', { project_id: 'a' })),
    bucket(2),
  ]
  const twice = ['2026-10-01 gpt-4o: input 400, cached_input 1600, cache_write 0, output 1000, requests 10']
  const claude = '2026-10-01 claude-sonnet-4-20250514: input 1500, cached_input 200, cache_write 1500, output 500'
  const anthropicColumns =
    'usage_date_utc,model_version,api_key,workspace,usage_type,context_window,usage_input_tokens_no_cache,usage_input_tokens_cache_write_5m,usage_input_tokens_cache_write_1h,usage_input_tokens_cache_read,usage_output_tokens,web_search_count,inference_geo,speed'
  const cases: [what: string, text: string, sums: string[]][] = [
    ['a page of OpenAI', JSON.stringify(page([bucket(1, result('gpt-4o'))]), null, 2), openAiSums],
    ['buckets of OpenAI', JSON.stringify(inTwo), twice],
    ['pages of OpenAI, one after the other', inTwo.map((each) => JSON.stringify(page([each]))).join('\n'), twice],
    ['a list of pages of OpenAI', JSON.stringify([page(inTwo)], null, 1), twice],
    [
      'embeddings of OpenAI',
      JSON.stringify([
        bucket(1, {
          object: 'organization.usage.embeddings.result',
          input_tokens: 7,
          num_model_requests: 2,
          model: 'gpt-4o',
        }),
      ]),
      ['2026-10-01 gpt-4o: input 7, cached_input 0, cache_write 0, output 0, requests 2'],
    ],
    [
      "OpenAI's CSV, with empty buckets",
      `start_time,end_time,start_time_iso,end_time_iso,project_id,num_model_requests,model,input_tokens,output_tokens,input_cached_tokens,input_uncached_tokens\n` +
        `${october(1)},${october(1) + 60},a,b,,,,,,,\n${october(1) + 60},${october(1) + 120},a,b,proj,5.0,gpt-4o,1000,500,800,200\n`,
      openAiSums,
    ],
    [
      'a report of Anthropic, whose buckets begin with their end',
      JSON.stringify({
        data: [
          {
            ending_at: '2026-10-02T00:00:00Z',
            results: [
              {
                account_id: null,
                api_key_id: 'a',
                context_window: '0-200k',
                inference_geo: 'global',
                model: 'claude-sonnet-4-20250514',
                service_tier: 'standard',
                workspace_id: null,
                uncached_input_tokens: 1500,
                cache_read_input_tokens: 200,
                output_tokens: 500,
                cache_creation: { ephemeral_1h_input_tokens: 1000, ephemeral_5m_input_tokens: 500 },
                server_tool_use: { web_search_requests: 10 },
              },
            ],
            starting_at: '2026-10-01T00:00:00Z',
          },
        ],
        has_more: false,
        next_page: null,
      }),
      [claude],
    ],
    [
      "the CSV of Anthropic's console",
      `${anthropicColumns}\n2026-10-01,claude-sonnet-4-20250514,key,Default,standard,≤ 200k,1500,500,1000,200,500,10,global,\n`,
      [claude],
    ],
    [
      'the activity of OpenRouter',
      JSON.stringify({
        data: [
          {
            date: '2026-10-01',
            model: 'openai/gpt-4o:free',
            model_permaslug: 'openai/gpt-4o-2024',
            endpoint_id: 'e',
            provider_name: 'OpenAI',
            usage: 0.015,
            byok_usage_inference: 0,
            requests: 5,
            prompt_tokens: 50,
            completion_tokens: 125,
            reasoning_tokens: 25,
          },
        ],
      }),
      ['2026-10-01 openai/gpt-4o:free: prompt 50, output 125, requests 5'],
    ],
    [
      'the same as CSV',
      'Date,Slug,Usage,BYOK Usage,Requests,Prompt Tokens,Completion Tokens,Reasoning Tokens\n"2026-10-01 00:00:00","openai/gpt-4o:free","4.30","0","5","50","125","0"\n',
      ['2026-10-01 openai/gpt-4o:free: prompt 50, output 125, requests 5'],
    ],
    [
      'generations of OpenRouter',
      'generation_id,created_at,cost_total,tokens_prompt,tokens_completion,tokens_reasoning,tokens_cached,model_permaslug,variant,app_name\n' +
        'gen-1,2026-10-01 23:59:59.999,0.01,10,3,0,4,openai/gpt-4o,free,x\ngen-2,2026-10-02 00:00:00.000,0.01,1,1,0,0,openai/gpt-4o,free,x\n',
      [
        '2026-10-01 openai/gpt-4o:free: uncached_input 6, cached_input 4, output 3, requests 1',
        '2026-10-02 openai/gpt-4o:free: uncached_input 1, cached_input 0, output 1, requests 1',
      ],
    ],
    [
      'the amounts of DeepSeek',
      'user_id,start_time_iso,end_time_iso,model,api_key_name,api_key,type,price,amount\n' +
        ['input_cache_hit_tokens,0.1,5', 'input_cache_miss_tokens,0.1,7', 'output_tokens,0.1,9', 'request_count,,2']
          .map((cells) => `u,2026-10-01T08:00:00Z,2026-10-01T09:00:00Z,gpt-4o,k,sk,${cells}\n`)
          .join(''),
      ['2026-10-01 gpt-4o: cached_input 5, uncached_input 7, output 9, requests 2'],
    ],
    [
      'a plain file with semicolons and empty lines',
      'day;model;kind;tokens;requests\n\n2026-10-01;gpt-4o;input;7;2\n2026-10-01;gpt-4o;output;9;\n',
      ['2026-10-01 gpt-4o: input 7, requests 2, output 9'],
    ],
  ]
  for (const [what, text, sums] of cases) {
    test(`is read from ${what}`, async () => {
      assert.deepEqual(await sumsOf(text), sums)
    })
  }

  test('covers days without usage, and says that there are more pages', async () => {
    const found = await read(JSON.stringify(page([bucket(1, result('gpt-4o')), bucket(2)], { has_more: true })))
    assert.ok(!Array.isArray(found))
    assert.deepEqual([found.from, found.to, found.rows, found.hasMore], ['2026-10-01', '2026-10-02', 1, true])
  })

  const head = 'day,model,kind,tokens,requests\n'
  const row = '2026-10-01,gpt-4o,input,7,\n'
  const other = (changes: object) => JSON.stringify([bucket(1, result('gpt-4o', changes))], null, 1)
  const refused: [what: string, text: string, ...faults: [line: number, reason: RegExp][]][] = [
    ['nothing in it', '\n \n', [1, /empty/]],
    ['another format', 'date,cost\n2026-10-01,1\n', [1, /no usage export that Tollgate knows: it has "date", "cost"/]],
    ['a header alone', head, [1, /no usage in this file/]],
    [
      'an unknown column',
      `day,model,kind,tokens,colour\n2026-10-01,gpt-4o,input,7,red\n`,
      [1, /unknown column "colour"/],
    ],
    ['a column twice', `day,model,kind,tokens,day\n`, [1, /column day appears twice/]],
    ['an unknown field', other({ colour: 'red' }), [7, /unknown column "colour"/]],
    ['an unknown field of a page', JSON.stringify(page([], { total: 1 })), [1, /unknown field total/]],
    ['costs', other({ object: 'organization.costs.result' }), [7, /object is organization\.costs\.result/]],
    ['no model', other({ model: null }), [7, /names no model: group the export by model/]],
    ['parts above the whole', other({ input_cached_tokens: 1001 }), [7, /input_tokens is less than/]],
    [
      'unknown models, each once, and numbers that nobody can read',
      `${head}2026-10-01,nobody,input,7,\n2026-10-02,nobody,input,7,\n2026-10-03,gpt-4o-2024-08-06,input,1e3,\n2026-02-30,gpt-4o,input,1,\n2026-10-04,gpt-4o,input,-1,\n2026-10-05,gpt-4o,inputs,1,\n2026-10-06,,input,1,\n2026-10-07,gpt-4o,input,,\n`,
      [2, /unknown model "nobody": --model "nobody=<id>" names its model/],
      [4, /tokens is "1e3", but must be a whole number/],
      [5, /day is "2026-02-30", but must be a day/],
      [6, /tokens is "-1"/],
      [7, /kind is "inputs", but must be input, /],
      [8, /model is missing/],
      [9, /tokens is missing/],
    ],
    [
      'a row twice',
      `${head}${row}2026-10-02,gpt-4o,input,7,\n${row}`,
      [4, /the same time, or part of it, .* as line 2/],
    ],
    ['requests twice', `${head}2026-10-01,gpt-4o,input,7,1\n2026-10-01,gpt-4o,output,7,1\n`, [3, /as line 2/]],
    [
      'overlapping buckets',
      JSON.stringify([bucket(1, result('gpt-4o')), { ...bucket(1, result('gpt-4o')), start_time: october(1) + 3600 }]),
      [1, /the same time, or part of it/],
    ],
    [
      'a request twice',
      'generation_id,created_at,tokens_prompt,tokens_completion,model_permaslug\ng,2026-10-01 00:00:00,1,1,gpt-4o\ng,2026-10-02 00:00:00,1,1,gpt-4o\n',
      [3, /repeats line 2: both have the id "g"/],
    ],
    [
      'days of another zone',
      JSON.stringify([{ ...bucket(1, result('gpt-4o')), start_time: october(1) + 7200, end_time: october(2) + 7200 }]),
      [1, /in two days in UTC/],
    ],
    ['a time that ends first', JSON.stringify([{ ...bucket(1), end_time: october(1) }]), [1, /ends before it begins/]],
    ['broken JSON', '[\n{"start_time": 1,\n "end_time": }]', [2, /not JSON/]],
    ['half a file', '{"data": [\n{"start_time"', [2, /ends before it is complete/]],
    ['a broken line', `${head}${row}"2026,\n`, [3, /no closing quote/]],
    ['a short line', `${head}2026-10-01,gpt-4o\n`, [2, /2 cells, but the header has 5/]],
  ]
  for (const [what, text, ...faults] of refused) {
    test(`with ${what} is refused with its lines`, async () => {
      const found = await read(text)
      assert.ok(
        Array.isArray(found),
        JSON.stringify(found, (_, value: unknown) => String(value)),
      )
      assert.deepEqual(
        found.map(({ line }) => line),
        faults.map(([line]) => line),
        JSON.stringify(found),
      )
      for (const [index, [, reason]] of faults.entries()) assert.match(found[index]?.reason ?? '', reason)
    })
  }

  test('leaves out models and columns that the operator names, and days that are not compared', async () => {
    const text = `day,model,kind,tokens,colour\n2026-10-01,gpt-4o,input,7,red\n2026-10-01,nobody,input,9,\n2026-10-02,gpt-4o,input,1,\n`
    const options = { skippedModels: new Set(['nobody']), skippedColumns: new Set(['colour']), to: '2026-10-01' }
    assert.deepEqual(await sumsOf(text, options), ['2026-10-01 gpt-4o: input 7'])
    const named = {
      ...options,
      skippedModels: new Set<string>(),
      models: groupModels(models, new Map([['nobody', 'far']])),
    }
    assert.deepEqual(await sumsOf(text, named), ['2026-10-01 gpt-4o: input 16'])
  })
})

describe("a vendor's name of a model", () => {
  const cases: [configured: Record<string, string>, name: string, models: string[] | undefined][] = [
    [{ a: 'gpt-4o', b: 'gpt-4o-2024-08-06', c: 'gpt-4o-mini' }, 'gpt-4o-2024-05-13', ['a', 'b']],
    [{ a: 'mistral-large-latest', b: 'mistral-large-2407' }, 'mistral-large-2411', ['a', 'b']],
    [{ a: 'gpt-4o-2024-05-13', b: 'gpt-4o-2024-08-06' }, 'gpt-4o-2024-08-06', ['b']],
    [{ a: 'gpt-4o-2024-05-13', b: 'gpt-4o-2024-08-06' }, 'gpt-4o-2024-11-20', undefined],
    [{ a: 'gpt-4o-2024-05-13', b: 'gpt-4o-2024-08-06' }, 'gpt-4o', undefined],
    [{ a: 'claude-sonnet-4-20250514' }, 'claude-sonnet-4', ['a']],
    [{ a: 'shared', b: 'shared' }, 'shared', ['a', 'b']],
  ]
  for (const [names, name, expected] of cases) {
    test(`${name} among ${Object.values(names).join(', ')} is ${expected?.join(' and ') ?? 'unknown'}`, () => {
      assert.deepEqual(groupModels(configured(names)).of(name)?.models, expected)
    })
  }
})
