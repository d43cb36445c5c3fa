import { Type, type TSchema, type TUnion } from 'typebox'
import { engineOf, expectationOf, kindOf } from '../../src/platform/config/check.ts'
import { configSchema, environmentVariables } from '../../src/platform/config/schema.ts'
import { descriptionOf, listSettings, type Setting } from './settings.ts'
import { renderHead, renderTable } from './table.ts'

const introduction = `
Tollgate reads a few environment variables and one YAML file, once, at startup. \`tollgate.example.yaml\` has every setting
with a comment. An invalid setting prevents startup. All errors are reported together, one line each, with the path of the
setting and the expected value.
`

const writing = `
Without a file every setting has its default. A file can omit every setting that has a default; an empty file is valid.

- Write durations as \`500ms\`, \`30s\`, \`60m\` or \`12h\`, periods as \`30d\` or \`10y\`, and sizes as \`64KiB\` or \`1MiB\`.
- Prices are decimal numbers in quotes, such as \`"0.40"\`, with at most 6 decimals. Without quotes they are refused, because
  YAML would read them as binary fractions, which cannot represent most prices exactly.
- \`\${NAME}\` in a text is replaced by the environment variable \`NAME\`. Keep secrets there. A missing or empty variable is
  an error. Its value is not expanded again.
- Relative paths are relative to the file's folder.
`

/** `docs/configuration.md`, from the schema. */
export function renderConfiguration(): string {
  const entries: [string, TSchema][] = Object.entries(configSchema.properties)
  const single = entries.filter(([, schema]) => !isGroup(schema))
  return [
    renderHead('Configuration', 'src/platform/config/schema.ts'),
    introduction,
    '\n## Environment variables\n\n',
    renderTable(['Variable', 'Must be', 'Default', 'Meaning'], environmentRows()),
    '\nAn empty variable counts as not set.\n',
    '\n## The file\n',
    writing,
    `\n${renderSettings(single.flatMap(([name, schema]) => listSettings(schema, name)))}`,
    ...entries.filter(([, schema]) => isGroup(schema)).map(([name, schema]) => renderGroup(name, schema)),
  ].join('')
}

function environmentRows(): string[][] {
  return Object.entries(environmentVariables).map(([name, { format, default: fallback, description }]) => [
    `\`${name}\``,
    format.expects,
    fallback,
    description,
  ])
}

function isGroup(schema: TSchema): boolean {
  return Type.IsObject(schema) || (Type.IsArray(schema) && Type.IsUnion(schema.items))
}

function renderGroup(name: string, schema: TSchema): string {
  const heading = `\n## \`${name}\`\n\n${descriptionOf(schema)}\n`
  if (Type.IsArray(schema) && Type.IsUnion(schema.items)) return heading + renderVariants(schema.items, `${name}[]`)
  return `${heading}\n${renderSettings(listSettings(schema, name))}`
}

/** The settings of every engine first, then those of each engine, and of each kind of its models besides text. */
function renderVariants(union: TUnion, path: string): string {
  const settings = listSettings(union, path)
  const ofText = union.anyOf.filter((variant) => (kindOf(variant) ?? 'text') === 'text')
  const isCommon = (setting: Setting) =>
    ofText.every((variant) => settings.some((other) => other.variant === variant && other.path === setting.path))
  const common = settings.filter((setting) => setting.variant === ofText[0] && isCommon(setting))
  const chosen = common.map((setting) =>
    setting.path === `${path}.engine`
      ? { ...setting, expects: expectationOf(union), description: 'What runs the model.' }
      : setting,
  )
  const variants = union.anyOf.map((variant) => {
    const all = settings.filter((setting) => setting.variant === variant)
    const isText = ofText.includes(variant)
    const own = isText ? all.filter((setting) => !isCommon(setting)) : all
    const heading = `\`engine: ${engineOf(variant)}\`${isText ? '' : `, \`kind: ${kindOf(variant)}\``}`
    const which = isText ? 'In addition to the settings above:' : 'All its settings:'
    return `\n### ${heading}\n\n${descriptionOf(variant)} ${which}\n\n${renderSettings(own)}`
  })
  return `\n${renderSettings(chosen)}${variants.join('')}`
}

function renderSettings(settings: readonly Setting[]): string {
  return renderTable(
    ['Setting', 'Must be', 'Default', 'Meaning'],
    settings.map((setting) => [
      `\`${setting.path}\``,
      setting.expects,
      setting.default ?? (setting.optional ? 'none' : 'must be given'),
      setting.description,
    ]),
  )
}
