import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { freePorts, start } from './start.ts'

/** Starts the demo as `npm start` does, with its own database. `configuration` is the text of tollgate.yaml. */
export async function startDemo(configuration = '{}') {
  const folder = await mkdtemp(path.join(tmpdir(), 'tollgate-demo-'))
  const file = path.join(folder, 'tollgate.yaml')
  await writeFile(file, configuration)
  const port = await freePorts()
  const environment = {
    PORT: String(port),
    TOLLGATE_DATA: path.join(folder, 'data'),
    TOLLGATE_CONFIG: file,
    // Not the default beside a configured mail server.
    TOLLGATE_DEMO: '1',
  }
  let running = await start(environment)
  return {
    base: `http://localhost:${port}`,
    /** Starts it again on the same data, with another configuration. */
    async restart(changed: string) {
      await running.end()
      await writeFile(file, changed)
      running = await start(environment)
    },
    async close() {
      await running.end()
      await rm(folder, { recursive: true })
    },
  }
}
