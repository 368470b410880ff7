package boot

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// envPrefix is the beginning of the names of all variables that programs read.
const envPrefix = "ROTALOOM_"

// unknownVariables returns the names of the variables with our prefix that no setting of a program has, sorted. A
// misspelled variable would otherwise have no effect without a sign. environ has the form of os.Environ.
func unknownVariables(model *kong.Node, environ []string) []string {
	known := map[string]bool{}
	for _, flag := range settingsByName(model) {
		for _, name := range flag.Envs {
			known[name], known[name+"_FILE"] = true, true
		}
	}
	var out []string
	for _, variable := range environ {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, envPrefix) && !known[name] {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
