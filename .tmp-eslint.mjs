import base from './eslint.config.js'
export default [...base, { files: ['test/**/*.ts'], rules: { '@typescript-eslint/no-floating-promises': ['error', { allowForKnownSafeCalls: [{ from: 'package', name: 'test', package: '@tapjs/test' }] }] } }]
