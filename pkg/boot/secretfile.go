package boot

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/alecthomas/kong"
)

// maxSettingFile bounds the size of a file with one setting, in bytes.
const maxSettingFile = 64 << 10

// fileSettings reads a setting from the file that ROTALOOM_NAME_FILE names, so that a secret
// appears neither in the arguments nor in the environment of a process. It trims white space,
// because editors end files with a line break. A flag on the command line takes precedence. Setting
// both a variable and its file is an error, because the intention is unclear.
func fileSettings(lookup func(string) (string, bool)) kong.Resolver {
	return kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
		for _, name := range flag.Envs {
			path, ok := lookup(name + "_FILE")
			if !ok || path == "" {
				continue
			}
			if _, both := lookup(name); both {
				return nil, fmt.Errorf("%s and %s_FILE are both set: keep one", name, name)
			}
			value, err := readSetting(path)
			if err != nil {
				return nil, fmt.Errorf("%s_FILE: %w", name, err)
			}
			return value, nil
		}
		return nil, nil //nolint:nilnil // Resolvers return this for an unknown setting.
	})
}

func readSetting(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	value, err := io.ReadAll(io.LimitReader(file, maxSettingFile+1))
	if err != nil {
		return "", err
	}
	if len(value) > maxSettingFile {
		return "", fmt.Errorf("%s holds more than %d bytes", path, maxSettingFile)
	}
	return strings.TrimSpace(string(value)), nil
}
