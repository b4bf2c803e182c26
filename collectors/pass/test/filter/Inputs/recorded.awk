# Prints one line: the functions that have accesses left to record, in order.
/^define/ { name = $0; sub(/\(.*/, "", name); sub(/.*@/, "", name); sub(/\.traced$/, "", name) }
/call void @__trackway_oracle_access/ && !seen[name]++ { line = line " " name }
END { print "recorded:" line "." }
