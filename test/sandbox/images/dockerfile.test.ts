/* eslint-disable no-template-curly-in-string -- Dockerfiles are full of them */
import t from 'tap'
import { externalImages, rewriteDockerfile } from '../../../src/sandbox/images/dockerfile.ts'

const images = new Map([['python:3.11', 'local/python:1'], ['node:20', 'local/node:2']])

interface Row { what: string, given: string, external: string[], rewritten: string }

const rows: Row[] = [
  { what: 'one image', given: 'FROM python:3.11\nRUN true', external: ['python:3.11'], rewritten: 'FROM local/python:1\nRUN true' },
  { what: 'small letters and blanks', given: '  from   python:3.11  ', external: ['python:3.11'], rewritten: 'FROM local/python:1' },
  { what: 'an image without a replacement', given: 'FROM debian:12', external: ['debian:12'], rewritten: 'FROM debian:12' },
  { what: 'a stage keeps its name', given: 'FROM python:3.11 AS build', external: ['python:3.11'], rewritten: 'FROM local/python:1 AS build' },
  {
    what: 'a stage that starts from another stage, even one named as an image',
    given: 'FROM python:3.11 AS Build\nFROM build as node:20\nFROM node:20',
    external: ['python:3.11'],
    rewritten: 'FROM local/python:1 AS Build\nFROM build as node:20\nFROM node:20',
  },
  { what: 'a platform', given: 'FROM --platform=linux/amd64 node:20 AS x', external: ['node:20'], rewritten: 'FROM --platform=linux/amd64 local/node:2 AS x' },
  { what: 'scratch', given: 'FROM scratch', external: [], rewritten: 'FROM scratch' },
  {
    what: 'arguments before the first FROM',
    given: 'ARG NAME=python\nARG TAG="3.11"\nFROM ${NAME}:$TAG',
    external: ['python:3.11'],
    rewritten: 'ARG NAME=python\nARG TAG="3.11"\nFROM local/python:1',
  },
  { what: 'an argument with a default in place', given: 'ARG V\nFROM node:${V:-20}', external: ['node:20'], rewritten: 'ARG V\nFROM local/node:2' },
  { what: 'text after an argument', given: 'ARG V=3\nFROM python:$V.11', external: ['python:3.11'], rewritten: 'ARG V=3\nFROM local/python:1' },
  {
    what: 'FROM inside a continued RUN',
    given: 'FROM node:20\nRUN echo "select \\\n# comment\n\nFROM python:3.11"\nRUN true',
    external: ['node:20'],
    rewritten: 'FROM local/node:2\nRUN echo "select \\\n# comment\n\nFROM python:3.11"\nRUN true',
  },
  { what: 'a continued FROM', given: 'FROM \\\n  python:3.11 \\\n  AS x\nRUN true', external: ['python:3.11'], rewritten: 'FROM local/python:1  AS x\nRUN true' },
  { what: 'CRLF', given: 'FROM python:3.11\r\nRUN true\r\n', external: ['python:3.11'], rewritten: 'FROM local/python:1\nRUN true\r\n' },
  { what: 'comments', given: '# FROM node:20\nFROM python:3.11', external: ['python:3.11'], rewritten: '# FROM node:20\nFROM local/python:1' },
]

for (const { what, given, external, rewritten } of rows) {
  await t.test(what, t => {
    t.same(externalImages(given), external)
    t.equal(rewriteDockerfile(given, { images }).replace(/ {2,}AS/, '  AS'), rewritten)
    t.end()
  })
}

await t.test('arguments are added to every stage, after its FROM', t => {
  const given = 'FROM python:3.11 AS a\nRUN one\nFROM a\nRUN two\n'
  const rewritten = rewriteDockerfile(given, { images, args: { X: '1', Y: '/y' } })
  t.equal(rewritten, 'FROM local/python:1 AS a\nARG X=1\nARG Y=/y\nRUN one\nFROM a\nARG X=1\nARG Y=/y\nRUN two\n')
  t.end()
})

await t.test('an image that is used twice is named once', t => {
  t.same(externalImages('FROM node:20 AS a\nFROM node:20 AS b\nFROM python:3.11'), ['node:20', 'python:3.11'])
  t.end()
})
