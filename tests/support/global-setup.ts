import { startCluster, type Cluster } from './cluster.ts'
import { shareCluster } from './database.ts'

let cluster: Cluster | undefined

/** Called by the test runner before the first test file, which inherits the environment. */
export async function globalSetup(): Promise<void> {
  cluster = await startCluster()
  shareCluster(cluster)
}

/** Called by the test runner after the last one. */
export async function globalTeardown(): Promise<void> {
  await cluster?.stop()
}
