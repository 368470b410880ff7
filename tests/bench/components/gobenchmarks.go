// Package components measures single parts of the product: their Go benchmarks, grants of tokens,
// the staging of payroll, balances and timecards.
package components

import "github.com/rotaloom/rotaloom/tests/bench/harness"

const (
	spans       = "spans"
	toJSON      = "json"
	authorise   = "authorise"
	evaluate    = "evaluate"
	asOf        = "as-of"
	explain     = "explain"
	description = "description"
)

// Groups are the figures of this package, in the order of the table.
var Groups = []harness.Group{
	{Names: []string{spans}, Run: worker},
	{Names: []string{toJSON}, Run: transcoding},
	{Names: []string{authorise}, Run: authorising},
	{Names: []string{evaluate}, Run: evaluating},
	{Names: []string{asOf}, Run: readingThePast},
	{Names: []string{explain}, Run: explaining},
	{Names: []string{description}, Run: describing},
	{Names: []string{passwordGrants, refreshGrants}, Run: grants},
	{Names: []string{stagedMonth}, Run: stagingFigures},
	{Names: []string{balance}, Run: balanceFigures},
	{Names: []string{timecardTotals, timecardWeek}, Run: timecardFigures},
}

// worker compares the writes of the workers with a COPY of the same rows.
func worker(h *harness.Host, o harness.Options) ([]harness.Figure, error) {
	const name = "BenchmarkWorker/first-spans/2-workers"
	m, err := harness.GoBench(h, o, "services/scheduling", "./internal/propagation/propagator", "^BenchmarkWorker$/^first-spans$/^2-workers$", "3x")
	if err != nil {
		return nil, err
	}
	return []harness.Figure{{
		Name: spans, Unit: "spans/s", AtLeast: 0.5, Measured: m[name+"/spans/s"], Baseline: m[name+"/copied-spans/s"],
		Note: "two workers, against one COPY of the same rows",
	}}, nil
}

// transcoding compares the edge's JSON of a schedule with protojson's.
func transcoding(h *harness.Host, o harness.Options) ([]harness.Figure, error) {
	const name = "BenchmarkAgainstProtojson/"
	m, err := harness.GoBench(h, o, "gateway", "./transcode", "^BenchmarkAgainstProtojson$", "7x")
	if err != nil {
		return nil, err
	}
	return []harness.Figure{{
		Name: toJSON, Unit: "MB/s", AtLeast: 8, Measured: m[name+"MB/s"], Baseline: m[name+"protojson-MB/s"],
		Note: "15,000 shifts, against protojson.Marshal of the same message",
	}}, nil
}

// authorising measures the additional cost of a GET for authentication, authorization and rate
// limiting.
func authorising(h *harness.Host, o harness.Options) ([]harness.Figure, error) {
	m, err := harness.GoBench(h, o, "gateway", ".", "^BenchmarkAuthorise$", "20x")
	if err != nil {
		return nil, err
	}
	return []harness.Figure{{
		Name: authorise, Unit: "µs", AtMost: 30, Measured: m["BenchmarkAuthorise/added-µs"],
		Note: "processor time of a GET, against a public one that is not throttled",
	}}, nil
}

// evaluating compares the evaluation of rules with only assembling the shifts.
func evaluating(h *harness.Host, o harness.Options) ([]harness.Figure, error) {
	m, err := harness.GoBench(h, o, "services/scheduling", "./internal/ruleviolation", "^BenchmarkEvaluate$", "15x")
	if err != nil {
		return nil, err
	}
	return []harness.Figure{{
		Name: evaluate, Unit: "ms", AtMost: 3, Measured: m["BenchmarkEvaluate/evaluating-ms"], Baseline: m["BenchmarkEvaluate/expanding-ms"],
		Note: "five rules, 1,000 employees and 28 days, against only putting the same shifts together",
	}}, nil
}

// readingThePast compares a read of an earlier schedule with a read of the present one.
func readingThePast(h *harness.Host, o harness.Options) ([]harness.Figure, error) {
	m, err := harness.GoBench(h, o, "services/scheduling", "./internal/schedule", "^BenchmarkAsOf$", "15x")
	if err != nil {
		return nil, err
	}
	return []harness.Figure{{
		Name: asOf, Unit: "ms", AtMost: 1.5, Measured: m["BenchmarkAsOf/as-of-ms"], Baseline: m["BenchmarkAsOf/present-ms"],
		Note: "as of half a year ago, after a year of daily changes; 500 employees x 30 days",
	}}, nil
}

// explaining compares explanations with a read of the explained days.
func explaining(h *harness.Host, o harness.Options) ([]harness.Figure, error) {
	m, err := harness.GoBench(h, o, "services/scheduling", "./internal/schedule", "^BenchmarkExplain$", "50x")
	if err != nil {
		return nil, err
	}
	return []harness.Figure{{
		Name: explain, Unit: "ms", AtMost: 3, Measured: m["BenchmarkExplain/explaining-ms"], Baseline: m["BenchmarkExplain/reading-ms"],
		Note: "1,000 employee days, against a read of the same days",
	}}, nil
}

// describing measures the processor time of the API description. It exceeds the elapsed time,
// because the garbage collector runs in parallel.
func describing(h *harness.Host, o harness.Options) ([]harness.Figure, error) {
	m, err := harness.GoBench(h, o, "proto", "./internal/openapi", "^BenchmarkGenerate$", "1x")
	if err != nil {
		return nil, err
	}
	return []harness.Figure{{
		Name: description, Unit: "s", AtMost: 2, Measured: m["BenchmarkGenerate/processor-s"],
		Note: "processor time, from the compiled contracts and their cases to both documents",
	}}, nil
}
