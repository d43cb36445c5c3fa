// Prints what each test file cost when it was last run by npm test, check or endure: `npm run test:times`.
import { existsSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { timesPath } from '../runtime.js'
import { areaOf, areas } from './files.js'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
if (!existsSync(timesPath(root))) {
  process.stderr.write('No run has been measured yet: run npm test first.\n')
  process.exit(1)
}
const times = JSON.parse(readFileSync(timesPath(root), 'utf8')).filter(({ file }) => existsSync(`${root}/${file}`))
console.log('processor s   wall s  area      file')
for (const { file, processor, wall } of times.toSorted((one, other) => other.processor - one.processor)) {
  const figures = `${processor.toFixed(1).padStart(11)}${wall.toFixed(1).padStart(9)}`
  console.log(`${figures}  ${areas[areaOf(file)].name.padEnd(8)}  ${file}`)
}
