// Adds to package-lock.json the optional packages of other platforms.
//
// npm omits an optional package from the lock file if its registry could not resolve it at that moment, and `npm ci`
// then refuses the lock file on every machine. Run this after `npm install` has changed the lock file. The versions come
// from the packages that depend on them, the platform from the package's name.
import { readFileSync, writeFileSync } from 'node:fs'

const file = new URL('../package-lock.json', import.meta.url)
const lock = JSON.parse(readFileSync(file, 'utf8'))
const { overrides = {} } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

const systems = { mac: 'darwin', darwin: 'darwin', win: 'win32', win32: 'win32', windows: 'win32' }
const processors = { armv7l: 'arm', arm: 'arm' }

/** `@scope/linux-x64-musl` → `{os, cpu}` as npm writes them. */
const platformOf = (name) => {
  const words = name.split('/').at(-1).split('-')
  const known = ['android', 'darwin', 'freebsd', 'linux', 'mac', 'openharmony', 'wasm32', 'win', 'win32', 'windows']
  const system = words.find((word) => known.includes(word)) ?? 'linux'
  const processor = words.find((word) => /^(arm|arm64|armv7l|ia32|ppc64|riscv64|s390x|x64)$/.test(word)) ?? 'wasm32'
  return { os: [systems[system] ?? system], cpu: [processors[processor] ?? processor] }
}

for (const { optionalDependencies = {} } of Object.values(lock.packages)) {
  for (const [name, asked] of Object.entries(optionalDependencies)) {
    const alias = overrides[name]?.match(/^npm:(.+)@(.+)$/)
    const path = `node_modules/${name}`
    if (lock.packages[path] || !/^\d/.test(alias?.[2] ?? asked)) continue
    const [real, version] = alias ? [alias[1], alias[2]] : [name, asked]
    lock.packages[path] = { ...(alias && { name: real }), version, optional: true, ...platformOf(real) }
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).toSorted(([a], [b]) => (a < b ? -1 : 1)))
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`)
