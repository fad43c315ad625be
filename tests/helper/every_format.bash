# SPDX-License-Identifier: MIT
# Sets traces to real traces of each format that can be read. If the tests have none in a format, one is
# converted from another format, in the working directory. data: tests/data
tr-parse -q -o gears.trec "$data/apitrace/gears.trace"
tr-repack -q -t json -o zlib.json "$data/build/zlib.bear.json.gz"
tr-repack -q -t drcov -o plain.drcov "$data/gnatcov/plain_32le.trace"
tr-repack -q -t buildspec -o zlib.buildspec "$data/build/zlib.kw.json.gz"
traces=("$data"/build/zlib.{kw.json,strace,bear.json}.gz "$data"/apitrace/{gears,mt4,eglinfo}.trace
	"$data"/gnatcov/{plain_32le,shared_objects_64le}.trace "$data/srctrace/good-log.console"
	"$data/etrace/hello.nfsdb.gz" "$data"/ltrace/{plain,system}.ltrace "$data/build/zlib.compile_commands.json"
	"$data/kwspec/zlib.out.gz" "$data/lcov/geninfo.info" "$data/ninjalog/cmake.ninja_log"
	"$data/qemulog/good-x86_64.log" "$data/trace32/good-thumb.txt" "$data"/bazel/{aquery,execlog}.json
	"$data"/makelog/{autotools,cmake}.log.gz gears.trec zlib.json plain.drcov zlib.buildspec)
formats=$(tr-parse --identify "${traces[@]}" | sed 's/.*: //' | sort -u)
diff <(tr-parse --list-formats | awk -F'\t' '$2 == "yes" { print $1 }' | sort) <(echo "$formats") ||
	{ echo "not every format that is read has a trace here" && exit 2; }
