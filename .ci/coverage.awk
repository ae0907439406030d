# Reads what `llvm-cov export` has written, and prints the report of .ci/coverage.

function indentation(text) {
    match(text, /^ */)
    return RLENGTH
}

# The declaration that a line of a file is in: the nearest one above it that is indented less than all between.
function declaration(path, line,    at, depth, text, name) {
    depth = 1000
    for (at = line; at > 0; at--) {
        text = source[path, at]
        if (text ~ /^ *$/ || text ~ /^ *(\/\/|#)/ || text ~ /^ *[)}]/) continue
        if (indentation(text) >= depth && at != line) continue
        depth = indentation(text)
        if (text !~ /^ *(guard|if|while) / && match(text, /(func [^ (<]+|init[?]?[(<]|deinit|subscript|var [A-Za-z_]+[^=]*\{)/)) {
            name = substr(text, RSTART, RLENGTH)
            sub(/^(func|var) /, "", name)
            sub(/[?(<: {].*$/, "", name)
            return name
        }
    }
    return "file"
}

function trimmed(text) {
    sub(/^ +/, "", text)
    return substr(text, 1, 80)
}

# A stretch that nothing has reached, from a line to another.
function report(path, first, last,    name, key, why) {
    name = declaration(path, first)
    key = substr(path, length("Sources/") + 1) " " name
    if (!(key in reason)) unexplained++
    why = key in reason ? reason[key] : "WITHOUT A REASON:"
    if (!(why in stretches)) order[++reasons_used] = why
    stretches[why] = stretches[why] sprintf("    %s:%s (%s): %s\n", path, first == last ? first : first "-" last, name,
        trimmed(source[path, first]))
}

function number_after(text, label) {
    if (!match(text, label)) return 0
    return substr(text, RSTART + RLENGTH) + 0
}

BEGIN {
    RS = "\n"
    # A reason of one line or several, and below it a file with functions in each indented line.
    while ((getline line < reasons) > 0) {
        if (line ~ /^#/) continue
        if (line ~ /^ /) {
            split(line, names, " ")
            for (i = 2; i in names; i++) reason[names[1] " " names[i]] = text
        } else {
            text = line == "" ? "" : text (text == "" ? "" : " ") line
        }
    }
    RS = "\"filename\":\""
}

NR > 1 {
    path = substr($0, 1, index($0, "\"") - 1)
    sub(root, "", path)
    RS_old = RS; RS = "\n"
    n = 0
    while ((getline line < path) > 0) source[path, ++n] = line
    close(path)
    RS = RS_old

    summary = substr($0, index($0, "\"summary\":"))
    lines = substr(summary, index(summary, "\"lines\":"))
    regions = substr(summary, index(summary, "\"regions\":"))
    for (f = path; sub(/\/[^\/]*$/, "", f);) {
        line_count[f] += number_after(lines, "\"count\":"); line_hits[f] += number_after(lines, "\"covered\":")
        region_count[f] += number_after(regions, "\"count\":"); region_hits[f] += number_after(regions, "\"covered\":")
    }
    printf "%-60s lines %5.1f %%  regions %5.1f %%\n", path, number_after(lines, "\"percent\":"), number_after(regions, "\"percent\":")

    begin = index($0, "\"segments\":[[") + length("\"segments\":[[")
    text = substr($0, begin)
    text = substr(text, 1, index(text, "]]") - 1)
    segments = split(text, segment, /\],\[/)
    first = 0
    for (i = 1; i <= segments; i++) {
        split(segment[i], part, ",")
        missed = part[4] == "true" && part[3] == 0
        # A gap between two regions belongs to the one before it.
        if (missed && !first && part[6] == "false") first = part[1]
        if (!missed && first) {
            report(path, first, part[2] == 1 ? part[1] - 1 : part[1])
            first = 0
        }
    }
}

END {
    print ""
    for (i = 1; i <= reasons_used; i++) printf "%s\n%s\n", order[i], stretches[order[i]]
    split(required, row, " ")
    for (i = 1; i in row; i += 3) {
        name = row[i]
        by_line = 100 * line_hits[name] / line_count[name]
        by_region = 100 * region_hits[name] / region_count[name]
        printf "%s: %d of %d lines, %.1f %%; %d of %d regions, %.1f %%\n", name, line_hits[name], line_count[name], by_line,
            region_hits[name], region_count[name], by_region
        if (by_line < row[i + 1] || by_region < row[i + 2]) {
            printf "At least %s %% and %s %% are required.\n", row[i + 1], row[i + 2]
            failed = 1
        }
    }
    if (unexplained) printf "%d stretches that are not reached have no reason in %s.\n", unexplained, reasons
    # Some depend on chance, and on how busy the machine is.
    if (unexplained > 5) failed = 1
    exit failed
}
