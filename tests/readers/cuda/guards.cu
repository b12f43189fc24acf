// Guards in every spelling. Each branch holds a marker, which is compiled for just the targets that take the branch.

// -- is it defined

#ifdef __CUDA_ARCH__
mark_device;
#else
mark_host;
#endif

#ifndef __CUDA_ARCH__
mark_ifndef;
#else
mark_ifndef_else;
#endif

#if defined __CUDA_ARCH__
mark_defined_without_brackets;
#endif

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 1000
mark_host_or_older;
#else
mark_newer;
#endif

#if defined(__HIP_PLATFORM_AMD__)
mark_another_maker;
#elif defined(__CUDACC__)
mark_this_maker;
#endif

#if __CUDA_ARCH__
mark_number_alone;
#endif

#if !__CUDA_ARCH__
mark_not_a_number;
#endif

// -- numbers

#if __CUDA_ARCH__ == 1200
mark_equal;
#elif __CUDA_ARCH__ == 1210
mark_equal_to_next;
#else
mark_equal_to_neither;
#endif

#if __CUDA_ARCH__ != 1200
mark_unequal;
#endif

#if 1200 == __CUDA_ARCH__
mark_turned_round;
#endif

#if __CUDA_ARCH__ >= 900
mark_lower_bound;
#endif

#if (__CUDA_ARCH__ >= 900) && (__CUDA_ARCH__ < 1000)
mark_half_open;
#else
mark_not_half_open;
#endif

#if __CUDA_ARCH__ >= 1000 && __CUDA_ARCH__ <= 1100
mark_closed;
#endif

#if 1000 <= __CUDA_ARCH__ && 1200 > __CUDA_ARCH__
mark_range_turned_round;
#endif

#if __CUDA_ARCH__ / 100 == 12
mark_by_hundreds;
#endif

#if __CUDA_ARCH__ / 10 == 121
mark_by_tens;
#endif

#if __CUDA_ARCH__ % 100 == 10
mark_remainder;
#endif

#if (__CUDA_ARCH__ - 1000) * 2 == 400
mark_arithmetic;
#endif

#if __CUDA_ARCH__ - 1300 < 0
mark_below_zero;
#endif

#if __CUDA_ARCH__ == 0x4B0
mark_hexadecimal;
#endif

#if __CUDA_ARCH__ == 02260
mark_octal;
#endif

#if __CUDA_ARCH__ == 0b10010110000
mark_binary;
#endif

#if __CUDA_ARCH__ == 1200L || __CUDA_ARCH__ == 1210u || __CUDA_ARCH__ == 900ULL
mark_suffixes_of_numbers;
#endif

#if __CUDA_ARCH__ == 1'200
mark_digit_separator;
#endif

#if __CUDA_ARCH__ & 0x8
mark_bit_and;
#endif

#if (__CUDA_ARCH__ | 15) == 1215
mark_bit_or;
#endif

#if (__CUDA_ARCH__ ^ 1200) == 0
mark_bit_xor;
#endif

#if __CUDA_ARCH__ >> 4 == 75
mark_shift;
#endif

#if (1 << 10) < __CUDA_ARCH__
mark_shifted_left;
#endif

#if ~__CUDA_ARCH__ == -1201
mark_complement;
#endif

#if +__CUDA_ARCH__ == 1200
mark_plus;
#endif

#if __CUDA_ARCH__ >= 1000 ? __CUDA_ARCH__ < 1200 : 0
mark_ternary;
#endif

#if (__CUDA_ARCH__ == 900 ? 1 : __CUDA_ARCH__ == 1030 ? 2 : 3) == 2
mark_ternary_in_ternary;
#endif

#if !(__CUDA_ARCH__ == 1200)
mark_not_of_brackets;
#endif

#if !!(__CUDA_ARCH__ == 1200)
mark_not_twice;
#endif

#if not (__CUDA_ARCH__ == 1200) and __CUDA_ARCH__ >= 1200
mark_words_for_operators;
#endif

#if __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000 && 0
mark_precedence;
#endif

#if (__CUDA_ARCH__ == 1200) == (__CUDA_ARCH__ < 1210)
mark_truth_compared;
#endif

#if 900 < __CUDA_ARCH__ == 1
mark_comparison_compared;
#endif

#if 0
mark_never;
#elif 1
mark_always;
#else
mark_never_again;
#endif

#if true && !false
mark_true;
#endif

// -- suffixes

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
mark_feature_90;
#endif

#if defined(__CUDA_ARCH_FEAT_SM100_ALL) || defined(__CUDA_ARCH_FEAT_SM103_ALL)
mark_feature_of_two;
#endif

#if defined(__CUDA_ARCH_FEAT_SM120_ALL)
mark_feature_120;
#elif defined(__CUDA_ARCH_FEAT_SM121_ALL)
mark_feature_121;
#else
mark_no_feature;
#endif

#if __CUDA_ARCH_HAS_FEATURE__(SM120_ALL)
mark_has_feature;
#endif

#if defined(__CUDA_ARCH_HAS_FEATURE__) && __CUDA_ARCH_HAS_FEATURE__(SM103_ALL)
mark_has_feature_if_it_can_be_asked;
#endif

#ifdef __CUDA_ARCH_SPECIFIC__
mark_specific;
#endif

#if __CUDA_ARCH_SPECIFIC__ == 1200 || __CUDA_ARCH_SPECIFIC__ == 1210
mark_specific_number;
#endif

#if defined(__CUDA_ARCH_FAMILY_SPECIFIC__)
mark_family;
#endif

#if defined(__CUDA_ARCH_FAMILY_SPECIFIC__) && __CUDA_ARCH_FAMILY_SPECIFIC__ == 1200
mark_family_number;
#endif

#if __CUDA_ARCH_FAMILY_SPECIFIC__ >= 1200
mark_family_bound;
#endif

#if defined(__CUDA_ARCH_FAMILY_SPECIFIC__) && !defined(__CUDA_ARCH_SPECIFIC__)
mark_family_alone;
#endif

#if __CUDA_ARCH__ == 1210 && !defined(__CUDA_ARCH_FAMILY_SPECIFIC__)
mark_plain;
#endif

// -- shapes

#if __CUDA_ARCH__ >= 1000
mark_outer;
#  if __CUDA_ARCH__ >= 1200
mark_inner;
#    ifdef __CUDA_ARCH_FEAT_SM121_ALL
mark_innermost;
#    endif
#  else
mark_inner_else;
#  endif
mark_outer_again;
#else
mark_outer_else;
#endif

#if __CUDA_ARCH__ < 1000
mark_chain_1;
#elif __CUDA_ARCH__ < 1030
mark_chain_2;
#elif __CUDA_ARCH__ < 1200
mark_chain_3;
#elif defined(__CUDA_ARCH_FEAT_SM120_ALL)
mark_chain_4;
#else
mark_chain_5;
#endif

#if (__CUDA_ARCH__ >= 1200) && \
    (__CUDA_ARCH__ < 1300)   && \
    defined(__CUDA_ARCH_FAMILY_SPECIFIC__)
mark_continued;
#endif

#if defined(__CUDA_ARCH__) /* the device */ && __CUDA_ARCH__ >= 1200 // and new
mark_comments;
#endif /* new */

#	if	__CUDA_ARCH__==1200
mark_tabs;
#	endif

  # if __CUDA_ARCH__>=1200
mark_spaces;
  # endif

/* #if 0 */
mark_after_a_comment;
// #endif

#if __CUDA_ARCH__ >= 1200
const char *text = "\
#if 0\
";
mark_text_with_a_directive;
#endif

#if 0
it's no literal, and neither is "this
#elif __CUDA_ARCH__ >= 1200
mark_after_a_lone_quote;
#endif

// -- macros

#if __CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1000
#define HOPPER 1
#endif
#ifdef HOPPER
mark_macro;
#endif
#if HOPPER
mark_macro_as_number;
#endif
#ifndef HOPPER
mark_macro_not_defined;
#endif

#if defined(HOPPER)
#define TILE 64
#elif __CUDA_ARCH__ >= 1200
#define TILE 32
#else
#define TILE 128
#endif
#if TILE == 128
mark_tile_128;
#elif TILE > 32
mark_tile_64;
#else
mark_tile_32;
#endif

#if LATER == 1
mark_defined_below;
#endif
#define LATER 1
#if LATER == 1
mark_defined_above;
#endif

#define ARCH __CUDA_ARCH__
#if ARCH == 1200
mark_another_name;
#endif

#define IS_FAMILY (ARCH / 100 == 12)
#if IS_FAMILY && ARCH != 1200
mark_expression;
#endif

#define FIRST SECOND
#define SECOND __CUDA_ARCH__
#if FIRST == 1210
mark_defined_in_the_wrong_order;
#endif

#define AT_LEAST(number) (__CUDA_ARCH__ >= (number))
#if AT_LEAST(1030)
mark_function;
#endif

#define BETWEEN(low, high) (AT_LEAST(low) && !AT_LEAST(high))
#if BETWEEN(1000, 1200)
mark_function_in_function;
#endif

#if BETWEEN(900, 1000) || BETWEEN(1200, 1210) // the same calls inside, with other numbers
mark_function_twice;
#endif

#define SUM 600 + 600
#if __CUDA_ARCH__ == SUM
mark_sum;
#endif

#define LOCAL_ENABLED 0
#if LOCAL_ENABLED
mark_zero;
#else
mark_zero_else;
#endif
#ifdef LOCAL_ENABLED
mark_zero_is_defined;
#endif

#define EMPTY
#ifdef EMPTY
mark_empty;
#endif

#ifndef STAGES
#if __CUDA_ARCH__ >= 1200
#define STAGES 2
#else
#define STAGES 4
#endif
#endif
#if STAGES == 2
mark_default;
#endif
#ifndef STAGES
#define STAGES 8
#endif
#if STAGES == 8
mark_second_default;
#endif

#define SWITCH 1
#if SWITCH
mark_before_undef;
#endif
#undef SWITCH
#if SWITCH
mark_after_undef;
#endif
#ifndef SWITCH
mark_undefined;
#endif

#define MODE 1
#if __CUDA_ARCH__ >= 1200
#undef MODE
#define MODE 2
#endif
#if MODE == 2
mark_defined_again;
#endif

#ifdef MODE
#undef MODE
#ifdef __CUDA_ARCH_SPECIFIC__
#define MODE 3
#endif
#endif
#ifdef MODE
mark_defined_for_some;
#endif

#define SELF SELF
#if SELF == 0
mark_itself;
#endif
#define PING PONG
#define PONG PING
#if !PING
mark_circle;
#endif

// -- the toolkit, taken as a current one

#if __CUDACC_VER_MAJOR__ >= 12
mark_toolkit;
#endif
#if __CUDACC_VER_MAJOR__ > 12 || (__CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ >= 9)
mark_toolkit_with_minor;
#else
mark_older_toolkit;
#endif
#if CUDART_VERSION >= 12080 && __CUDA_ARCH__ >= 1200
mark_runtime;
#endif
#if defined(__GNUC__) && !defined(_MSC_VER)
mark_host_compiler;
#endif
#if __cplusplus >= 201703L
mark_language;
#endif

// -- not decided: both branches may compile, for a build may define the name, or for no one reads such numbers

#ifdef PROJECT_OPTION
mark_free_on;
#else
mark_free_off;
#endif
#if PROJECT_LEVEL > 2 || __CUDA_ARCH__ == 1200
mark_free_level;
#endif
#if __CUDA_ARCH__ == '\0' + 1200
mark_free_character;
#endif
#if __CUDA_ARCH__ == /* a comment
   over two lines */ 1200
mark_free_long_comment;
#endif
#if __has_include(<project.h>)
mark_free_header;
#else
mark_free_no_header;
#endif
#if PROJECT_LEVEL && __CUDA_ARCH__ == 1200
mark_free_with_target;
#else
mark_free_without;
#endif
