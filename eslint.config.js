// neostandard for form, typed rules for promises, STYLE limits for size.
import neostandard from 'neostandard'
import tseslint from 'typescript-eslint'

export default [
  ...neostandard({ ts: true, ignores: ['dist/**', '.tap/**', '.assay/**', 'node_modules/**', 'tasks/*/environment/**', 'tasks/*/solution/**'] }),
  {
    files: ['**/*.ts'],
    plugins: { '@typescript-eslint': tseslint.plugin },
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { attributes: false } }],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      'max-lines': ['error', { max: 300 }],
      'max-lines-per-function': ['error', { max: 60 }],
      'max-params': ['error', { max: 3 }],
      'no-console': 'error',
      'no-redeclare': 'off',
      '@typescript-eslint/no-redeclare': 'off',
      'no-restricted-properties': ['error', { object: 'process', property: 'env', message: 'Settings come from src/config.ts.' }],
      'no-restricted-syntax': ['error',
        { selector: 'ExportDefaultDeclaration', message: 'Named exports only.' },
        { selector: 'TSEnumDeclaration', message: 'Use a literal union.' },
        { selector: 'ExportAllDeclaration', message: 'Name what is exported.' },
      ],
      '@stylistic/max-len': ['error', { code: 120, ignoreStrings: true, ignoreTemplateLiterals: true, ignoreComments: true, ignoreRegExpLiterals: true }],
    },
  },
  { files: ['src/config.ts', 'test/**/*.ts'], rules: { 'no-restricted-properties': 'off' } },
  { files: ['src/cli/**', 'benchmarks/**', 'clients/typescript/examples/**'], rules: { 'no-console': 'off', 'no-restricted-properties': 'off' } },
  {
    files: ['test/**/*.ts'],
    rules: {
      'max-lines-per-function': 'off',
      'max-lines': ['error', { max: 500 }],
      // tap waits for the tests that it was given
      '@typescript-eslint/no-floating-promises': ['error', {
        allowForKnownSafeCalls: [{ from: 'package', name: 'test', package: '@tapjs/test' }],
      }],
    },
  },
]
