import { isDemo } from '../../platform/config/config.ts'
import { OperatorError } from '../../platform/problems.ts'
import type { Context } from '../context.ts'
import {
  checkClock,
  checkConnections,
  checkCurrency,
  checkDatabase,
  checkDurability,
  checkEncryptionKey,
  checkPortal,
  checkPrices,
} from './database.ts'
import { readHasPeople } from '../store.ts'
import { checkDataFolder, checkPort, checkRuntime } from './host.ts'
import { faultOfModel } from '../model/survey.ts'

/** A check of something that the service needs. */
export interface DoctorCheck {
  readonly name: string
  /** The checks that must pass before this one is run. */
  readonly needs: readonly string[]
  /** Returns what was found. Throws OperatorError or Problem with the fault and how to fix it. Changes nothing. */
  run(context: Context): Promise<string>
}

/** In the order in which they are run. */
export const checks: readonly DoctorCheck[] = [
  { name: 'runtime', needs: [], run: async () => checkRuntime(process.versions.node) },
  { name: 'configuration', needs: [], run: checkConfiguration },
  { name: 'data folder', needs: ['configuration'], run: checkDataFolder },
  { name: 'database', needs: ['configuration'], run: checkDatabase },
  { name: 'encryption key', needs: ['database'], run: checkEncryptionKey },
  { name: 'currency', needs: ['database'], run: checkCurrency },
  { name: 'portal', needs: ['database'], run: checkPortal },
  { name: 'durability', needs: ['database'], run: checkDurability },
  { name: 'clock', needs: ['database'], run: checkClock },
  { name: 'connections', needs: ['database'], run: checkConnections },
  { name: 'documents', needs: ['database'], run: checkDocuments },
  { name: 'models', needs: ['configuration'], run: checkModels },
  { name: 'prices', needs: ['database'], run: checkPrices },
  { name: 'sign-in', needs: ['database'], run: checkSignIn },
  { name: 'mail', needs: ['configuration'], run: checkMail },
  { name: 'drafting', needs: ['database'], run: checkDrafting },
  { name: 'letterhead', needs: ['configuration'], run: checkLetterhead },
  { name: 'try it', needs: ['database'], run: checkTryIt },
  { name: 'port', needs: ['configuration'], run: checkPort },
]

async function checkConfiguration(context: Context): Promise<string> {
  const { file } = await context.config()
  return file ?? 'no file: every setting has its default'
}

async function checkDocuments(context: Context): Promise<string> {
  const { surveyStorage } = await import('../../clients/verify.ts')
  return surveyStorage(await context.config(), await context.database())
}

async function checkModels(context: Context): Promise<string> {
  const { models } = await context.config()
  const found = await Promise.all(models.map((model) => faultOfModel(model, models)))
  const faults = new Set(found.filter((fault) => fault !== null))
  if (faults.size > 0) throw new OperatorError([...faults].join('\n'))
  return `${models.map(({ id }) => id).join(', ')}: every file and package is usable`
}

async function checkSignIn(context: Context): Promise<string> {
  const config = await context.config()
  if (isDemo(config)) return "the demo's provider, without passwords; it runs while the service does"
  const { surveySignIn } = await import('../../signin/open.ts')
  const hasPeople = config.sign_in.first_partner !== undefined || (await readHasPeople(await context.database()))
  return surveySignIn({ config, log: await context.log(), hasPeople })
}

async function checkMail(context: Context): Promise<string> {
  const config = await context.config()
  if (isDemo(config) && config.mail === undefined) return 'the demo keeps its mail; it runs while the service does'
  const { surveyMail } = await import('../../mail/open.ts')
  return surveyMail(config)
}

async function checkDrafting(context: Context): Promise<string> {
  const config = await context.config()
  if (config.drafting === undefined) return isDemo(config) ? 'the demo sets it up' : 'not set up'
  const { createAccounts } = await import('../../accounts/accounts.ts')
  const { faultOfDrafting } = await import('../../drafting/drafting.ts')
  const fault = await faultOfDrafting(config, createAccounts({ database: await context.database() }))
  if (fault !== null) throw new OperatorError(fault)
  return `paid by the account ${config.drafting.account}, written by ${config.drafting.model}`
}

async function checkLetterhead(context: Context): Promise<string> {
  const { faultOfPrinting } = await import('../../documents/print/printed-settings.ts')
  const fault = await faultOfPrinting(await context.config())
  if (fault !== null) throw new OperatorError(fault)
  return 'PDFs can show the texts of the configuration'
}

async function checkTryIt(context: Context): Promise<string> {
  const config = await context.config()
  if (config.try_it === undefined) return isDemo(config) ? 'the demo sets it up' : 'not set up'
  const { createAccounts } = await import('../../accounts/accounts.ts')
  const { faultOfTryIt } = await import('../../generation/routes.ts')
  const fault = await faultOfTryIt(config.try_it, createAccounts({ database: await context.database() }))
  if (fault !== null) throw new OperatorError(fault)
  return `paid by the account ${config.try_it.account}`
}
