// Command bench measures the product and prints one table. Its exit code is 0 if every figure meets
// its target, and 1 otherwise.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/rotaloom/rotaloom/tests/bench"
	"github.com/rotaloom/rotaloom/tests/bench/harness"
)

func main() {
	o := harness.Options{Log: os.Stderr}
	only := flag.String("only", "", "figures to measure, separated by commas; the beginnings of their names will do")
	flag.IntVar(&o.Rounds, "rounds", 7, "rounds that count")
	flag.BoolVar(&o.Short, "short", false, "use smaller crews and leave out what takes long")
	flag.StringVar(&o.Profiles, "profiles", "", "address on which the standalone process serves its profiles")
	flag.Parse()
	if *only != "" {
		o.Only = strings.Split(*only, ",")
	}
	if o.Rounds < 1 || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	met, err := bench.Run(ctx, os.Stdout, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err != nil || !met {
		stop()
		os.Exit(1)
	}
}
