import t from 'tap'
import { serviceContract } from '../contracts/service.ts'
import { startService } from '../helpers/service.ts'

t.test('the local service', t => serviceContract(t, startService))
