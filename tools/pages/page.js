// page.js - the buttons of a page: they run the program with the numbers in the fields, and show what it writes.
"use strict";
(function () {
    const main = document.getElementById("site-main"), form = document.getElementById("numbers");
    const bar = document.getElementById("bar"), message = document.getElementById("message");
    const name = main.dataset.program;
    const graphFile = 3; // page_notebook.c and page_train.c write to it what is drawn

    function made(tag, text, className) {
        const element = document.createElement(tag);
        element.textContent = text || "";
        element.className = className || "";
        return element;
    }

    function button(text, place, click) {
        const element = made("button", text);
        element.type = "button";
        element.addEventListener("click", click);
        place.append(element, " ");
        return element;
    }

    // ---- the program

    async function unpacked() {
        const packed = Uint8Array.from(atob(document.getElementById("program").textContent.trim()), c => c.charCodeAt(0));
        const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
        return WebAssembly.compile(await new Response(stream).arrayBuffer());
    }

    // The fields as options of the program.
    function options() {
        const words = [], embeddings = [];
        for (const input of form.querySelectorAll("input")) {
            if (input.name === "embedding") {
                embeddings.push(input.value.trim());
            } else {
                words.push(input.name, input.value.trim());
            }
        }
        return embeddings.length ? [...words, "--embeddings", embeddings.join(",")] : words;
    }

    // Says why the program came to no exit status.
    function failed(why) {
        message.textContent = "The browser cannot run the program to its end: " + why;
        message.scrollIntoView({block: "nearest"});
    }

    // The program's message without its name and its options that a page does not have.
    function sentence(errors) {
        return errors.replace(name + ": ", "").replace(" (see --help)", "").trim();
    }

    // ---- maps and graphs

    // A map of rows of numbers that are not negative: the larger a number, the fuller its colour.
    function map(rows, labels) {
        const most = Math.max(...rows.flat()), grid = made("div", "", "map");
        grid.style.gridTemplateColumns = `repeat(${rows[0].length + 1}, max-content)`;
        grid.append(made("span"), ...labels.map(label => made("span", label, "down")));
        rows.forEach((row, i) => {
            grid.append(made("span", rows.length === labels.length ? labels[i] : "", "row"));
            row.forEach(value => {
                const cell = made("i");
                cell.style.setProperty("--part", most > 0 ? value / most : 0);
                cell.title = String(value);
                grid.append(cell);
            });
        });
        return grid;
    }

    // The printed tensors with a number for each token and no negative number, as rows.
    function weights(text, tokens) {
        return [...text.matchAll(/tensor\((\[[^()]*\])/g)]
            .map(found => [...found[1].matchAll(/\[([^[\]]+)\]/g)].map(row => row[1].split(",").map(Number)))
            .filter(rows => rows.length && rows.every(row => row.length === tokens && row.every(x => x >= 0 && x < Infinity)));
    }

    function box(node) {
        const head = `(${node.sizes.join(", ")})`;
        if (!node.inputs.length) {
            const leaf = made("div", "parameter ", "box leaf");
            leaf.append(made("small", head));
            return leaf;
        }
        const element = made("details", "", "box"), summary = made("summary", node.name + " ");
        summary.append(made("small", head));
        element.open = true;
        element.append(summary, ...node.inputs.map(box));
        return element;
    }

    // ---- a notebook

    function notebook(compiled) {
        const cells = [...document.querySelectorAll(".cell")].map(section => {
            const output = section.querySelector(".output"), line = made("p");
            const maps = made("div", "", "maps"), graph = made("div"), result = made("div", "", "result");
            const cell = {number: section.dataset.cell, section, output, maps, graph, expected: output.textContent};
            const heading = section.querySelector("h2").textContent;
            button("Run", line, () => run([cell])).setAttribute("aria-label", "Run " + heading);
            cell.status = made("span", "", "status");
            cell.status.setAttribute("role", "status");
            line.append(cell.status);
            output.before(line, result);
            result.append(output, maps);
            section.append(graph);
            return cell;
        });
        const tokens = [...form.querySelectorAll("th")].map(th => th.textContent);

        function run(some) {
            message.textContent = "";
            runEach(some).catch(failed);
        }

        async function runEach(some) {
            for (const cell of some) {
                const pieces = [[], [], [], []];
                const status = await runProgram(compiled, [name, ...options(), "--cell", cell.number],
                    (fd, bytes) => pieces[fd].push(bytes));
                const [, text, errors, graph] = await Promise.all(pieces.map(parts => new Blob(parts).text()));
                if (status !== 0) {
                    message.textContent = sentence(errors);
                    message.scrollIntoView({block: "nearest"});
                    return;
                }
                show(cell, text, graph);
            }
        }

        function show(cell, text, graph) {
            cell.output.textContent = text;
            cell.section.classList.add("run");
            cell.status.textContent = !text ? "It ran. It prints nothing."
                : text === cell.expected ? "It ran here, and printed what PyTorch prints." : "It ran here, with your numbers.";
            cell.maps.replaceChildren(...weights(text, tokens.length).map(rows => map(rows, tokens)));
            cell.graph.textContent = "";
            if (graph && text.includes("grad_fn=")) {
                const details = made("details");
                details.append(made("summary", "The graph behind the last result"), box(JSON.parse(graph)));
                cell.graph.append(details);
            }
        }

        button("Run all cells", bar, () => run(cells)).id = "all";
        button("The notebook's numbers", bar, () => {
            form.reset();
            run(cells.filter(cell => cell.section.classList.contains("run")));
        });
        form.addEventListener("input", () => {
            for (const cell of cells.filter(cell => cell.section.classList.contains("run"))) {
                cell.status.textContent = "You have changed numbers since it ran.";
            }
        });
        form.addEventListener("submit", event => {
            event.preventDefault();
            run(cells);
        });
    }

    // ---- the training

    function training(compiled) {
        const printed = document.getElementById("printed"), attention = document.getElementById("attention");
        const source = document.getElementById("run").textContent +
            "onunhandledrejection = e => { throw e.reason; };" + // so that worker.onerror gets it
            "onmessage = async e => postMessage({status: await runProgram(e.data.compiled, e.data.words," +
            " (fd, bytes) => postMessage({fd, bytes}))});";
        const start = button("Train", bar, () => train().catch(failed));
        start.id = "all";

        function curve(points, steps) {
            const most = Math.max(...points.map(point => Math.max(point[1], point[2])));
            const line = (k, kind) => `<polyline class="${kind}" points="` + points.map(point =>
                `${(35 + 360 * point[0] / steps).toFixed(1)},${(215 - 205 * point[k] / most).toFixed(1)}`).join(" ") + '"/>';
            document.getElementById("curve").innerHTML = '<line x1="35" y1="215" x2="395" y2="215"/><line x1="35" y1="10" x2="35" y2="215"/>' +
                `<text x="2" y="18">${most.toFixed(2)}</text><text x="22" y="219">0</text><text x="300" y="232">step ${steps}</text>` +
                line(1, "with") + line(2, "without");
        }

        function draw(points, steps, labels) {
            const [step, , , ...flat] = points[points.length - 1], n = labels.length;
            curve(points, steps);
            attention.replaceChildren(map(labels.map((_, i) => flat.slice(n * i, n * i + n)), labels));
            document.getElementById("step").textContent = "after step " + step;
        }

        async function train() {
            const worker = new Worker(URL.createObjectURL(new Blob([source], {type: "text/javascript"})));
            const words = options(), steps = Number(words[words.indexOf("--steps") + 1]), points = [];
            const decoders = [0, 1, 2, 3].map(() => new TextDecoder()), said = ["", "", "", ""];
            let asked = false;
            start.disabled = true;
            printed.textContent = message.textContent = "";
            function end() {
                start.disabled = false;
                worker.terminate();
            }
            worker.onerror = event => {
                failed(event.message || "it does not start the worker");
                end();
            };
            worker.onmessage = ({data}) => {
                if (data.status !== undefined) {
                    message.textContent = sentence(said[2]);
                    printed.dataset.status = data.status;
                    end();
                    return;
                }
                said[data.fd] += decoders[data.fd].decode(data.bytes, {stream: true});
                printed.textContent = said[1];
                const lines = said[graphFile].split("\n");
                said[graphFile] = lines.pop();
                points.push(...lines.map(line => line.split(" ").map(Number)));
                if (points.length && !asked) {
                    asked = true;
                    document.getElementById("pictures").hidden = false;
                    requestAnimationFrame(() => {
                        asked = false;
                        draw(points, steps, said[1].match(/\n {5}((?: \S\S)+)\n/)[1].trim().split(" "));
                    });
                }
            };
            worker.postMessage({compiled, words: [name, ...words]});
        }
    }

    const start = document.getElementById("printed") ? training : notebook;
    unpacked().then(start, () => {
        message.textContent = "This browser cannot run the program: it needs WebAssembly with SIMD and DecompressionStream. " +
            "The page shows what the program prints.";
    });
}());
