// run.js - runs a program that emcc -sSTANDALONE_WASM has made: on a page, in a worker, and in Node:
//     node run.js PROGRAM.wasm [ARGUMENT...]
// These are the calls of the WebAssembly System Interface that the programs need. Files are not among them.
"use strict";

// The exit status of the program. write(fd, bytes) gets what it writes; 1 is stdout, 2 is stderr.
async function runProgram(compiled, words, write) {
    const texts = words.map(word => new TextEncoder().encode(word + "\0"));
    const spipe = 70; // the error of a stream that cannot seek
    let memory;
    const view = () => new DataView(memory.buffer);
    class Exit {
        constructor(status) {
            this.status = status;
        }
    }
    const system = {
        args_sizes_get(count, bytes) {
            view().setUint32(count, texts.length, true);
            view().setUint32(bytes, texts.reduce((sum, text) => sum + text.length, 0), true);
            return 0;
        },
        args_get(pointers, at) {
            for (const text of texts) {
                view().setUint32(pointers, at, true);
                new Uint8Array(memory.buffer).set(text, at);
                pointers += 4;
                at += text.length;
            }
            return 0;
        },
        environ_sizes_get(count, bytes) {
            view().setUint32(count, 0, true);
            view().setUint32(bytes, 0, true);
            return 0;
        },
        environ_get: () => 0,
        clock_time_get(clock, precision, at) {
            view().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
            return 0;
        },
        fd_write(fd, pieces, n, written) {
            let sum = 0;
            for (let i = 0; i < n; i++) {
                const at = view().getUint32(pieces + 8 * i, true), length = view().getUint32(pieces + 8 * i + 4, true);
                write(fd, new Uint8Array(memory.buffer, at, length).slice());
                sum += length;
            }
            view().setUint32(written, sum, true);
            return 0;
        },
        fd_read(fd, pieces, n, read) {
            view().setUint32(read, 0, true);
            return 0;
        },
        fd_fdstat_get(fd, at) { // a file of no known kind, so no terminal
            new Uint8Array(memory.buffer, at, 24).fill(0);
            return 0;
        },
        fd_seek: () => spipe,
        fd_close: () => 0,
        proc_exit(status) {
            throw new Exit(status);
        },
    };
    const env = {emscripten_notify_memory_growth() {}, __call_sighandler() {}};
    const instance = await WebAssembly.instantiate(compiled, {wasi_snapshot_preview1: system, env});
    memory = instance.exports.memory;
    try {
        instance.exports._start();
    } catch (e) {
        if (e instanceof Exit) {
            return e.status;
        }
        throw e;
    }
    return 0;
}

if (typeof require === "function" && require.main === module) {
    const fs = require("fs");
    const [path, ...words] = process.argv.slice(2);
    WebAssembly.compile(fs.readFileSync(path))
        .then(compiled => runProgram(compiled, [path, ...words], (fd, bytes) => fd < 3 && fs.writeSync(fd, bytes)))
        .then(status => process.exit(status));
}
