import type { Feature } from '../platform/feature.ts'
import { overviewExamples, registerOverview, type OverviewRouteNeeds } from './routes.ts'

/** /, the home page, and the calendar of a person's tasks. */
export function openOverview(needs: OverviewRouteNeeds): Feature {
  return { routes: (server) => registerOverview(server, needs), examples: overviewExamples }
}
