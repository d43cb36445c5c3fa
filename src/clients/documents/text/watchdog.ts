import { workerData } from 'node:worker_threads'

/** Ends its process once it uses more than `workerData` bytes of memory, even while its main thread does not yield. */
setInterval(() => {
  if (process.memoryUsage.rss() > Number(workerData)) process.kill(process.pid, 'SIGKILL')
}, 25)
